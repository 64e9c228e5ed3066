// The page of the console, run by the browser: shows one view at a time and asks the admin API for everything.
// Text from the service becomes text nodes only; the policy of the page would refuse anything else.

const api = `${document.documentElement.dataset.base}/api/admin/v1`;
const view = document.getElementById('view');
const who = document.getElementById('who');
const said = document.getElementById('said');
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const numbers = new Intl.NumberFormat();

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks the API; with a body it is a change. Throws Refused with a sentence that may be shown. */
async function ask(path, body) {
  const change = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-rollcall': '1' },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(api + path, { cache: 'no-store', redirect: 'error', ...(body && change) });
  } catch {
    throw new Refused(0, 'The service cannot be reached. Look whether it runs, then try again.');
  }
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new Refused(
    response.status,
    answer?.message ?? `The service answered with status ${response.status}.`,
  );
}

/** An element with attributes and children; text becomes a text node. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Puts a copy of the template in view and moves the focus to its heading. */
function show(id, title) {
  view.replaceChildren(document.getElementById(id).content.cloneNode(true));
  document.title = `${title} · Rollcall`;
  for (const button of view.querySelectorAll('[data-reveal]')) button.addEventListener('click', reveal);
  view.querySelector('h1').focus();
}

function slot(name, within = view) {
  return within.querySelector(`[data-slot="${name}"]`);
}

function reveal({ currentTarget: button }) {
  const input = document.getElementById(button.dataset.reveal);
  const isShown = input.type === 'password';
  input.type = isShown ? 'text' : 'password';
  button.textContent = isShown ? 'Hide' : 'Show';
  button.setAttribute('aria-pressed', String(isShown));
}

function alertIn(form, message) {
  const alert = form.querySelector('.alert');
  alert.hidden = message === '';
  alert.textContent = message;
}

/** Sends the form's fields by `send`; while it is under way the form cannot be sent again. */
function onSubmit(send) {
  const form = view.querySelector('form');
  const button = form.querySelector('button.main');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    alertIn(form, '');
    try {
      await send(Object.fromEntries(new FormData(form)));
    } catch (error) {
      alertIn(form, error.message);
    } finally {
      button.disabled = false;
    }
  });
}

async function showSetUp(token) {
  who.hidden = true;
  let invitation;
  try {
    invitation = await ask('/entry/invitation', { token });
  } catch (error) {
    const isOver = error.status === 401;
    const advice = isOver ? 'A link works once, for 24 hours. “rollcall admin invite” makes another.' : '';
    const again = isOver ? ['Go to sign-in', start] : ['Try again', () => showSetUp(token)];
    showDeadEnd('This link cannot be used', error.message, advice, ...again);
    return;
  }
  show('set-up', 'Set up your account');
  slot('lead').textContent =
    `You are invited as ${invitation.name}. The link is good until ${times.format(new Date(invitation.expires))}.`;
  document.getElementById('new-name').value = invitation.name;
  onSubmit(async (fields) => showHome(await ask('/entry/accept', { token, ...fields })));
}

function showSignIn(reason = '') {
  who.hidden = true;
  show('sign-in', 'Sign in');
  alertIn(view.querySelector('form'), reason);
  onSubmit(async (fields) => showHome(await ask('/entry/sign-in', fields)));
}

function showDeadEnd(title, message, advice, action, act) {
  show('dead-end', title);
  slot('title').textContent = title;
  slot('message').textContent = message;
  slot('advice').textContent = advice;
  slot('action').textContent = action;
  slot('action').addEventListener('click', act);
}

async function showHome({ name }) {
  who.hidden = false;
  document.getElementById('who-name').textContent = name;
  show('home', 'Home');
  document.getElementById('refresh').addEventListener('click', async () => {
    said.textContent = '';
    await fill();
    said.textContent = 'Refreshed.';
  });
  await fill();
}

async function fill() {
  const sources = ask('/sources');
  const names = sources.then(
    (answer) => new Map(answer.sources.map((source) => [source.id, source.name])),
    () => new Map(),
  );
  await Promise.all([
    load('sources', async () => sourceTable((await sources).sources)),
    load('imports', async () => importTable((await ask('/imports?limit=20')).imports, await names)),
  ]);
}

/** Fills a section by `make`, or says why it stays empty. */
async function load(id, make) {
  const section = document.getElementById(id);
  const content = slot('content', section);
  if (content.childElementCount === 0) content.replaceChildren(element('p', { class: 'empty' }, 'Loading …'));
  try {
    content.replaceChildren(await make());
  } catch (error) {
    if (error.status === 401)
      return section.isConnected && showSignIn('Your session has ended; sign in again.');
    const again = element('button', { type: 'button' }, 'Try again');
    again.addEventListener('click', fill);
    content.replaceChildren(element('p', { class: 'alert', role: 'alert' }, error.message), again);
  }
}

const kinds = { scim: 'SCIM', general: 'General' };

function sourceTable(sources) {
  if (sources.length === 0) {
    const command = element('code', {}, 'rollcall source create --kind scim --name NAME');
    return element(
      'p',
      { class: 'empty' },
      'There is no source yet. On the machine, ',
      command,
      ' makes the first.',
    );
  }
  const rows = sources.map(({ id, name, kind, apiUrlSuffix, active }) => [
    String(id),
    name,
    kinds[kind],
    element('code', {}, apiUrlSuffix),
    active ? state('Active', 'good') : state('Not active', 'plain'),
  ]);
  return table('Profile sources', ['ID', 'Name', 'Kind', 'Api Url Suffix', 'State'], rows);
}

const statuses = {
  queued: ['Queued', 'plain'],
  planning: ['Planning', 'plain'],
  'awaiting-approval': ['Waits for approval', 'wait'],
  applying: ['Applying', 'plain'],
  completed: ['Completed', 'good'],
  'completed-with-errors': ['Completed with errors', 'wait'],
  failed: ['Failed', 'bad'],
  cancelled: ['Cancelled', 'plain'],
  rejected: ['Rejected', 'plain'],
  superseded: ['Superseded', 'plain'],
};

function importTable(imports, names) {
  if (imports.length === 0) {
    return element(
      'p',
      { class: 'empty' },
      'No document has been imported yet. Upload one to a general source.',
    );
  }
  const rows = imports.map((run) => [
    String(run.id),
    times.format(new Date(run.created)),
    names.get(run.sourceId) ?? `Source ${run.sourceId}`,
    statusOf(run),
    ...[run.users, run.counts.created, run.counts.updated, run.counts.disabled, run.counts.issues].map(
      (count) => numbers.format(count ?? 0),
    ),
  ]);
  const heads = [
    'Import',
    'Received',
    'Source',
    'Status',
    'Users',
    'Created',
    'Updated',
    'Disabled',
    'Issues',
  ];
  return table('Newest imports', heads, rows);
}

function statusOf({ status, dryRun, message }) {
  const [text, tone] = statuses[status] ?? [status, 'plain'];
  const cell = element('div', {}, state(dryRun ? `${text} (dry run)` : text, tone));
  if (message) cell.append(element('p', { class: 'hint' }, message));
  return cell;
}

function state(text, tone) {
  return element('span', { class: `state ${tone}` }, text);
}

const numberHeads = new Set(['Users', 'Created', 'Updated', 'Disabled', 'Issues']);

/** The roles are said because on a narrow screen the rows are shown as cards, which takes the table's own away. */
function table(label, heads, rows) {
  const classOf = (head) =>
    numberHeads.has(head) ? 'number' : head === 'Name' || head === 'Source' ? 'name' : 'text';
  const head = heads.map((text) =>
    element('th', { role: 'columnheader', scope: 'col', class: classOf(text) }, text),
  );
  const body = rows.map((cells) => {
    const made = cells.map((cell, index) =>
      element('td', { role: 'cell', class: classOf(heads[index]), 'data-label': heads[index] }, cell),
    );
    return element('tr', { role: 'row' }, ...made);
  });
  return element(
    'table',
    { role: 'table', 'aria-label': label },
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...head)),
    element('tbody', { role: 'rowgroup' }, ...body),
  );
}

async function leave(path) {
  try {
    await ask(path, {});
  } catch (error) {
    if (error.status !== 401) {
      showDeadEnd('You are still signed in', error.message, '', 'Try again', () => leave(path));
      return;
    }
  }
  showSignIn();
  said.textContent = 'You are signed out.';
}

/** The token of an invitation leaves the address bar, and so the history, before anything else happens. */
function takeInvitation() {
  const token = new URLSearchParams(location.hash.slice(1)).get('invite');
  if (token !== null) history.replaceState(null, '', location.pathname);
  return token;
}

async function start() {
  const token = takeInvitation();
  if (token !== null) return showSetUp(token);
  try {
    return showHome(await ask('/me'));
  } catch (error) {
    if (error.status === 401) return showSignIn();
    return showDeadEnd('The console cannot be shown', error.message, '', 'Try again', start);
  }
}

document.getElementById('sign-out').addEventListener('click', () => leave('/session/sign-out'));
document
  .getElementById('sign-out-everywhere')
  .addEventListener('click', () => leave('/session/sign-out/everywhere'));
addEventListener('hashchange', () => {
  const token = takeInvitation();
  if (token !== null) showSetUp(token);
});
start();
