// Microsoft Entra ID, by Microsoft Graph: people, groups, who is in them, and managers. It only reads.

import type { Connector, ConnectorRecord } from '../../src/connectors/contract.ts';
import { cloudOf, configSchema, defaultMapping, type EntraConfig } from './entra-config.ts';
import { TenantReader } from './reader.ts';

export const connector: Connector<EntraConfig> = {
  kind: 'entra',
  summary: 'Reads people and groups from Microsoft Entra ID, whole or what has changed.',
  configSchema,
  defaultMapping,
  canDelta: true,

  async test(context) {
    const { user, group } = await new TenantReader(context).firstNames();
    const { graph } = cloudOf(context.config);
    const people = user === undefined ? 'finds nobody' : `finds ${user} first`;
    const groups = group === undefined ? 'finds none' : `finds ${group} first`;
    const groupPart = context.config.groups ? `, and among the groups ${groups}` : '';
    return `Signed in to the tenant ${context.config.tenantId} by ${graph}; among the people it ${people}${groupPart}.`;
  },

  read(context): AsyncIterable<ConnectorRecord> {
    return new TenantReader(context).records();
  },
};
