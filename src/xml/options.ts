// The known options and their values. XML Schema 1.0 cannot tie the text of an element to the value of an
// attribute, so they are checked here; the schema names the same values in its types option-NAME.

type OptionRule = readonly string[] | RegExp;

const trueOrFalse = ['true', 'false', 'True', 'False', '1', '0'] as const;
const action = ['d', 'a', 'x'] as const;
const groupId = /^.{1,1024}$/su;

export const optionRules: ReadonlyMap<string, OptionRule> = new Map<string, OptionRule>([
  ['syncCompanies', trueOrFalse],
  ['syncLocations', trueOrFalse],
  ['syncDepartments', trueOrFalse],
  ['syncManagers', trueOrFalse],
  ['syncGroups', trueOrFalse],
  ['syncAdditionalFields', trueOrFalse],
  ['actionDisabledUsers', action],
  ['actionMissingDeletedUsers', action],
  ['loginType', ['0', '1', '2']],
  ['defaultCulture', /^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$/],
  ['defaultCompany', groupId],
  ['defaultDepartment', groupId],
  ['defaultLocation', groupId],
  ['newUserPasswordBehaviour', ['file', 'random', 'none']],
  ['mode', ['full', 'delta']],
]);

const spellings = new Map([...optionRules.keys()].map((name) => [name.toLowerCase(), name]));

export type OptionCheck = { readonly problem?: string; readonly warning?: string };

/** Judges one option, in the manner of the schema's own sentences. `options` holds those that came before. */
export function checkOption(name: string, value: string, options: ReadonlyMap<string, string>): OptionCheck {
  const rule = optionRules.get(name);
  if (rule === undefined) return checkUnknownOption(name);
  if (options.has(name))
    return { problem: `Element 'option': The option '${name}' is given more than once.` };
  if (Array.isArray(rule)) return rule.includes(value) ? {} : { problem: notAnElement(name, value, rule) };
  if (rule instanceof RegExp && rule.test(value)) return {};
  return {
    problem: `Element 'option': The value '${shorten(value)}' is not valid for the option '${name}'.`,
  };
}

/** An option that differs from a known one in case only is a slip, and would silently not apply. */
function checkUnknownOption(name: string): OptionCheck {
  const spelling = spellings.get(name.toLowerCase());
  if (spelling !== undefined) {
    return { problem: `Element 'option': The option '${shorten(name)}' must be written '${spelling}'.` };
  }
  return { warning: `The option '${shorten(name)}' is not known and has no effect.` };
}

function notAnElement(name: string, value: string, values: readonly string[]): string {
  const set = values.map((each) => `'${each}'`).join(', ');
  return `Element 'option': The value '${shorten(value)}' of the option '${name}' is not an element of the set {${set}}.`;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
