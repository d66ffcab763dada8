import type { SupportPerson } from '../../host/support.ts';
import type { Brand } from '../../platform/brand.ts';

/** As logs and histories name a person of the host: `Anna Weber (Kontor support)`. */
export const supportName = ({ name }: Pick<SupportPerson, 'name'>, brand: Brand): string =>
  `${name} (${brand.name} support)`;
