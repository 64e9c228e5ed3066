// The tables, as Kysely sees them. Rows are snake_case; the stores turn them into domain values.
// Times are ISO 8601 texts in UTC with milliseconds, truth values 0 or 1, documents JSON texts, so that
// SQLite and PostgreSQL hold, compare and return exactly the same values.

import type { Generated } from 'kysely';

export type Flag = 0 | 1;
export type ResourceTypeName = 'User' | 'Group';

export interface SequenceTable {
  name: ResourceTypeName;
  next: number;
}

export interface SourceTable {
  id: Generated<number>;
  kind: 'scim' | 'general';
  name: string;
  name_key: string;
  active: Flag;
  settings: string;
  created: string;
  modified: string;
}

export interface SourceTokenTable {
  id: Generated<number>;
  source_id: number;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** The token sealed under the key of `secret.key`, because the console shows it again. */
  ciphertext: string;
  created: string;
  expires: string | null;
}

/** What a source has ended, for the brake; the row is made when it first ends something. */
export interface BrakeTable {
  source_id: number;
  total: number;
  /** Pairs of minute and count for the last hour, JSON. */
  recent: string;
  held_since: string | null;
  released_until: string | null;
  alarmed_at: string | null;
}

export interface UserTable {
  id: number;
  state: 'active' | 'inactive' | 'archived';
  /** The source that created the user, or was the last to adopt it. */
  owner_source_id: number | null;
  user_name: string;
  user_name_key: string;
  /** What a list of members or a report line shows. */
  display_name: string;
  display_name_key: string | null;
  family_name_key: string | null;
  employee_number_key: string | null;
  /** The canonical SCIM attributes, without those that are columns, memberships or links. */
  document: string;
  /** What SQL cannot work out of the document's text, JSON: see `foldDocument`. Null when that is nothing. */
  folded: string | null;
  /** Whether answers show the document as it is: see `plainMark`. */
  plain_mark: Generated<number>;
  manager_id: number | null;
  password_hash: string | null;
  do_not_synchronise: Flag;
  version: number;
  created: string;
  modified: string;
}

export interface UserEmailTable {
  user_id: number;
  ordinal: number;
  type: string | null;
  is_primary: Flag;
  value_key: string;
}

export interface SourceLinkTable {
  source_id: number;
  resource_type: ResourceTypeName;
  resource_id: number;
  /** What this source calls the resource: SCIM externalId, or the `@id` of a file. Compared exactly. */
  external_id: string;
  /** Digest of the record that was last applied through a file; null for SCIM. */
  digest: string | null;
}

/** How many resources are there among those whose id shifted right by 11 bits is `block`; triggers keep it. */
export interface ResourceBlockTable {
  resource_type: ResourceTypeName;
  block: number;
  live: number;
  /** Moves whenever a resource of the block comes or goes. */
  changes: Generated<number>;
}

export interface GroupTable {
  id: number;
  state: 'existing' | 'deleted';
  owner_source_id: number | null;
  group_type: string;
  display_name: string;
  display_name_key: string;
  document: string;
  /** As in `UserTable`. */
  folded: string | null;
  version: number;
  created: string;
  modified: string;
}

export interface MembershipTable {
  group_id: number;
  user_id: number;
  /** The group's type when this is the user's primary membership of that type, else null. */
  primary_type: string | null;
}

export interface PendingReferenceTable {
  id: Generated<number>;
  source_id: number;
  kind: 'member' | 'manager';
  /** The group that waits for a member, or the user who waits for a manager. */
  resource_id: number;
  /** As the source wrote it: compared exactly with external ids. */
  reference: string;
  /** Its canonical key: compared with userName and email. */
  reference_key: string;
  created: string;
}

export interface PersonaTable {
  id: Generated<number>;
  name: string;
  name_key: string;
  rule: 'any' | 'all';
}

export interface PersonaGroupTable {
  persona_id: number;
  group_id: number;
}

export interface AdditionalFieldTable {
  id: string;
  label: string;
  type: 'string' | 'boolean' | 'decimal' | 'integer' | 'dateTime';
  pattern: string | null;
  required: Generated<0 | 1>;
  ordinal: number;
  /** 1 when it was removed: people keep their values of it, which nobody is shown. */
  removed: Generated<0 | 1>;
}

export interface SettingTable {
  key: string;
  value: string;
}

export interface JournalTable {
  seq: Generated<number>;
  time: string;
  actor_kind: 'source' | 'administrator' | 'system';
  actor_id: number | null;
  request_id: string | null;
  run_id: number | null;
  resource_type: ResourceTypeName;
  resource_id: number;
  action: string;
  before: string | null;
  after: string | null;
}

export interface ImportRunTable {
  id: Generated<number>;
  source_id: number;
  status: string;
  origin: string;
  dry_run: Flag;
  /** While it is applying: the phase, and how many of its plan rows are done. */
  phase: string | null;
  /** Sequence number of the last plan row (in `renames`: of the last chain) that is done in `phase`. */
  cursor: number;
  done: number;
  /** Since when it has been at work without a break in its phase, and how many rows were done then. */
  pace_from: string | null;
  pace_done: number;
  /** Under which the file was taken from a drop folder: no ticket is taken in twice. */
  ticket: string | null;
  /** File name in `drop/` while the run needs it. */
  document: string | null;
  /** File name in `archive/`; null once retention has removed it. */
  archive: string | null;
  sha256: string;
  /** Digest of what, besides its bytes, decided what the document means. */
  circumstances: string;
  bytes: number;
  users: number;
  groups: number;
  /** Effective options of the run, JSON; null until it is planned. */
  options: string | null;
  /** What the plan foresees by outcome, JSON; null until it is complete. */
  planned: string | null;
  /** Plan rows by phase, JSON; null until the plan is complete. */
  phases: string | null;
  /** Counts by outcome, JSON. */
  counts: string;
  /** Sentences, JSON. */
  warnings: string;
  first_user_id: number | null;
  first_group_id: number | null;
  message: string | null;
  lease_owner: string | null;
  lease_until: string | null;
  /** Grows with every claim: a batch commits only with the fence under which its processor claimed the run. */
  fence: number;
  /** Failures of the storage since the run last made progress, and when the next attempt is due. */
  attempts: number;
  retry_at: string | null;
  created: string;
  started: string | null;
  /** When it began to be applied: from then on the directory may be changed by it, however it ends. */
  applied_from: string | null;
  finished: string | null;
}

export interface ImportPlanTable {
  run_id: number;
  seq: number;
  kind: 'group' | 'user' | 'absent';
  record_id: string | null;
  line: number | null;
  action: string;
  /** The phase of applying that the row waits for; null when there is nothing to do. */
  phase: string | null;
  /** The resource that the record matched. */
  resource_id: number | null;
  /** For a create: its place among the creates of its kind; with the run's first id it gives the id. */
  ordinal: number | null;
  /** The userName that a create or a rename will take, as canonical key. */
  name_key: string | null;
  /** Rows of one chain take each other's userNames and are applied together. */
  chain: number | null;
  /** The `@id` by which this source knew the matched user until now. */
  former_id: string | null;
  payload: string | null;
  sealed_password: string | null;
  /** Names of the attributes that change, JSON. */
  changed: string | null;
  digest: string | null;
}

export interface ImportIssueTable {
  run_id: number;
  seq: number;
  line: number | null;
  record_id: string | null;
  code: string;
  message: string;
}

/** What befell a run, in the order of `seq`. */
export interface ImportEventTable {
  run_id: number;
  seq: number;
  at: string;
  kind: string;
  /** JSON. */
  facts: string;
}

/** What a connector has left with the document of a run that is not over. */
export interface ImportCheckpointTable {
  run_id: number;
  kind: string;
  digest: string;
  /** JSON. */
  value: string;
}

/** Where connectors go on: the checkpoint of the last import that was completed. */
export interface ConnectorCheckpointTable {
  source_id: number;
  kind: string;
  digest: string;
  /** JSON. */
  value: string;
  saved: string;
}

export interface AdminAccountTable {
  id: Generated<number>;
  name: string;
  name_key: string;
  password_hash: string;
  created: string;
}

export interface InvitationTable {
  id: Generated<number>;
  name: string;
  hash: string;
  created: string;
  expires: string;
  accepted: string | null;
}

export interface SessionTable {
  hash: string;
  account_id: number;
  created: string;
  expires: string;
}

export interface AuditEventTable {
  seq: Generated<number>;
  time: string;
  action: string;
  actor_kind: string;
  actor_name: string | null;
  client_address: string | null;
  subject_id: string;
  subject_name: string;
  /** JSON of what has changed. */
  before: string | null;
  after: string | null;
}

export interface Tables {
  sequence: SequenceTable;
  source: SourceTable;
  source_token: SourceTokenTable;
  brake: BrakeTable;
  user: UserTable;
  user_email: UserEmailTable;
  source_link: SourceLinkTable;
  group_: GroupTable;
  membership: MembershipTable;
  resource_block: ResourceBlockTable;
  pending_reference: PendingReferenceTable;
  persona: PersonaTable;
  persona_group: PersonaGroupTable;
  additional_field: AdditionalFieldTable;
  setting: SettingTable;
  journal: JournalTable;
  import_run: ImportRunTable;
  import_plan: ImportPlanTable;
  import_issue: ImportIssueTable;
  import_event: ImportEventTable;
  import_checkpoint: ImportCheckpointTable;
  connector_checkpoint: ConnectorCheckpointTable;
  admin_account: AdminAccountTable;
  invitation: InvitationTable;
  session: SessionTable;
  audit_event: AuditEventTable;
}
