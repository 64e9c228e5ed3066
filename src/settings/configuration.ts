import { type Clock, systemClock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { compileRe2, type Re2Pattern } from '../pattern/re2.ts';
import {
  type AdditionalFieldType,
  additionalFieldId,
  additionalFieldsSchema,
} from '../resource/additional-fields.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { buildResourceType, type ResourceType } from '../resource/schema.ts';
import { type AuditEvent, changed, type Operator, recordAudit, unnamedOperator } from '../security/audit.ts';
import { checkPasswordRegex } from '../security/password-rule.ts';
import { brokenUniqueRule } from '../storage/constraints.ts';
import type { Database, Tx } from '../storage/database.ts';
import { checkSetting, requireSettingName, type SettingName, type Settings, toSettings } from './settings.ts';
import {
  advanceConfigurationVersion,
  advanceShownVersion,
  existingGroupIds,
  findAdditionalField,
  insertPersona,
  listAdditionalFields,
  listPersonas,
  markFieldRemoved,
  type PersonaRow,
  putAdditionalField,
  readConfigurationVersion,
  readSettings,
  shownVersionOf,
  writeSetting,
} from './settings-store.ts';
import { userTypesOf } from './user-types.ts';

export interface AdditionalField {
  readonly id: string;
  readonly label: string;
  readonly type: AdditionalFieldType;
  /** RE2 pattern that a value must match whole; null for any value. */
  readonly pattern: string | null;
  /** Whether somebody who has any additional field must have this one. */
  readonly required: boolean;
}

export type Persona = PersonaRow;

/** Everything configured that changes what a request means, as of one moment. */
export interface Configuration {
  readonly version: string;
  /** Counts the changes of personas and additional fields: what resources show changes with them. */
  readonly shownVersion: number;
  readonly settings: Settings;
  readonly userType: ResourceType;
  readonly groupType: ResourceType;
  readonly fieldPatterns: ReadonlyMap<string, Re2Pattern>;
  readonly personas: readonly Persona[];
}

export interface SettingOptions {
  /** Stores a password regex even if it does not compile. */
  readonly force?: boolean;
  readonly by?: Operator;
}

export interface FieldOptions {
  readonly required?: boolean;
  readonly by?: Operator;
}

const labelLengthMax = 200;

/** Reads the configuration and keeps it until some process has changed it. */
export class Configurations {
  readonly #database: Database;
  readonly #clock: Clock;
  #kept: Promise<Configuration> | undefined;
  #loaded: Configuration | undefined;
  #keptVersion = '';

  constructor(database: Database, clock: Clock = systemClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async current(): Promise<Configuration> {
    return this.at(await readConfigurationVersion(this.#database.read));
  }

  /** The configuration of this `version`, which was read just now. */
  async at(version: string): Promise<Configuration> {
    if (this.#kept === undefined || version !== this.#keptVersion) {
      this.#keptVersion = version;
      this.#kept = this.#load(version);
    }
    return this.#kept;
  }

  /** What was read last, though it may not be in force any more. */
  get latest(): Configuration | undefined {
    return this.#loaded;
  }

  /** The same when it was read before; undefined when it has to be read first. */
  keptAt(version: string): Configuration | undefined {
    return this.#loaded?.version === version ? this.#loaded : undefined;
  }

  /** A configuration that could not be read is read again by the next request. */
  #load(version: string): Promise<Configuration> {
    const loading = load(this.#database, version);
    loading.then(
      (loaded) => {
        if (this.#kept === loading) this.#loaded = loaded;
      },
      () => {
        if (this.#kept === loading) this.#kept = undefined;
      },
    );
    return loading;
  }

  async getSetting(name: string): Promise<string | number> {
    const known = requireSettingName(name);
    return (await this.current()).settings[known];
  }

  /** Stores a setting. With `force` a password regex that does not compile is stored all the same. */
  async setSetting(name: string, text: string, options: SettingOptions = {}): Promise<SettingName> {
    const [known] = await this.setSettings(new Map([[name, text]]), options);
    return known ?? requireSettingName(name);
  }

  /** Stores settings together: when one of them will not do, none is changed. */
  async setSettings(
    texts: ReadonlyMap<string, string>,
    { force = false, by = unnamedOperator }: SettingOptions = {},
  ): Promise<SettingName[]> {
    const checked = new Map<SettingName, string>();
    for (const [name, text] of texts) {
      const known = requireSettingName(name);
      const value = checkSetting(known, text);
      if (known === 'passwordStrengthRegex' && value !== '' && !force) await checkPasswordRegex(value);
      checked.set(known, value);
    }
    await this.#change(async (tx) => {
      const former = toSettings(await readSettings(tx));
      for (const [name, value] of checked) {
        await writeSetting(tx, name, value);
        const difference = changed({ [name]: String(former[name]) }, { [name]: value });
        const event = { action: 'setting.change', by, subject: { id: name, name } } as const;
        if (difference !== undefined) await this.#audit(tx, { ...event, ...difference });
      }
    });
    return [...checked.keys()];
  }

  /** In the order in which they were made. */
  listFields(): Promise<AdditionalField[]> {
    return listAdditionalFields(this.#database.read);
  }

  /**
   * Adds a field, or brings one back that was removed, with the values that people had of it. Throws `uniqueness` for a
   * label that is taken, and `invalidValue` where the values that were kept are of another type.
   */
  async createField(
    label: string,
    type: AdditionalFieldType,
    pattern: string | null,
    { required = false, by = unnamedOperator }: FieldOptions = {},
  ): Promise<AdditionalField> {
    const trimmed = checkLabel('An additional field', label);
    const field = { id: additionalFieldId(trimmed), label: trimmed, type, pattern, required };
    additionalFieldsSchema([field]);
    if (pattern !== null) await requireRe2(pattern);
    return this.#change(async (tx) => {
      checkFormer(field, await findAdditionalField(tx, field.id));
      await putAdditionalField(tx, field);
      await advanceShownVersion(tx);
      const subject = { id: field.id, name: field.label };
      await this.#audit(tx, { action: 'field.change', by, subject, after: { ...field } });
      return field;
    });
  }

  /** Takes a field out of the schema and of every answer. What people had of it is kept, for the case that it comes back. */
  async removeField(id: string, by = unnamedOperator): Promise<AdditionalField> {
    return this.#change(async (tx) => {
      const field = (await listAdditionalFields(tx)).find((each) => each.id === id);
      if (field === undefined) throw new DomainError('notFound', `There is no additional field "${id}".`);
      await markFieldRemoved(tx, id);
      await advanceShownVersion(tx);
      const subject = { id, name: field.label };
      await this.#audit(tx, { action: 'field.change', by, subject, before: { ...field } });
      return field;
    });
  }

  /** Throws `invalidValue` for a name or groups that will not do, and `uniqueness` for a name that another has. */
  async createPersona(
    { name, rule, groupIds }: Omit<Persona, 'id'>,
    by: Operator = unnamedOperator,
  ): Promise<Persona> {
    const trimmed = checkLabel('A persona', name);
    if (groupIds.length === 0)
      throw new DomainError('invalidValue', 'A persona needs at least one group id.');
    const unique = [...new Set(groupIds)];
    try {
      return await this.#change(async (tx) => {
        const known = await existingGroupIds(tx, unique);
        const missing = unique.find((id) => !known.has(id));
        if (missing !== undefined)
          throw new DomainError('invalidValue', `There is no group with the id ${missing}.`);
        const id = await insertPersona(tx, {
          name: trimmed,
          nameKey: canonicalKey(trimmed),
          rule,
          groupIds: unique,
        });
        await advanceShownVersion(tx);
        const persona = { id, name: trimmed, rule, groupIds: unique };
        const subject = { id: String(id), name: trimmed };
        await this.#audit(tx, { action: 'persona.create', by, subject, after: { rule, groupIds: unique } });
        return persona;
      });
    } catch (error) {
      if (brokenUniqueRule(error) === undefined) throw error;
      throw new DomainError(
        'uniqueness',
        `There is a persona named "${trimmed}" already; choose another name.`,
      );
    }
  }

  /** Whoever keeps a copy, in whichever process, sees by the version that it is old. */
  #change<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#database.write(async (tx) => {
      const result = await work(tx);
      await advanceConfigurationVersion(tx);
      return result;
    });
  }

  #audit(tx: Tx, event: AuditEvent): Promise<void> {
    return recordAudit(tx, event, timestamp(this.#clock));
  }
}

function checkFormer(
  { id, type }: AdditionalField,
  former: (AdditionalField & { readonly isRemoved: boolean }) | undefined,
): void {
  if (former === undefined) return;
  if (!former.isRemoved) {
    throw new DomainError(
      'uniqueness',
      `There is an additional field "${id}" already; choose another label.`,
    );
  }
  if (former.type === type) return;
  const detail = `The additional field "${id}" was removed, and people keep values of it of the type ${former.type}; create it with that type, or choose another label.`;
  throw new DomainError('invalidValue', detail);
}

async function load(database: Database, version: string): Promise<Configuration> {
  const stored = await readSettings(database.read);
  const fields = await listAdditionalFields(database.read);
  const settings = toSettings(stored);
  const fieldPatterns = new Map<string, Re2Pattern>();
  for (const { id, pattern } of fields) {
    if (pattern !== null) fieldPatterns.set(id, await compileRe2(`^(?:${pattern})$`));
  }
  return {
    version,
    shownVersion: shownVersionOf(stored),
    settings,
    userType: buildResourceType('User', {
      additionalFields: additionalFieldsSchema(fields),
      userTypes: userTypesOf(settings.userTypes),
    }),
    groupType: buildResourceType('Group'),
    fieldPatterns,
    personas: await listPersonas(database.read),
  };
}

async function requireRe2(pattern: string): Promise<void> {
  try {
    await compileRe2(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DomainError('invalidValue', `The pattern is not one that RE2 accepts: ${reason}`, {
      cause: error,
    });
  }
}

function checkLabel(what: string, label: string): string {
  const trimmed = label.trim();
  if (trimmed.length > 0 && trimmed.length <= labelLengthMax && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new DomainError(
    'invalidValue',
    `${what} needs a name of 1 to ${labelLengthMax} printable characters.`,
  );
}
