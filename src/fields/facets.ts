import type { CustomField, Settings } from '../shops/settings/settings.ts';

/** Fields that shoppers filter by. Each has its values in the lists of the shop. */
export const MAX_FACET_FIELDS = 20;

/** The fields that shoppers filter lists and search by. Those of an app that was away come back beside others. */
export function facetFields({ customFields }: Pick<Settings, 'customFields'>): readonly CustomField[] {
  return customFields.filter(({ isFacet }) => isFacet).slice(0, MAX_FACET_FIELDS);
}
