import type { Transaction } from '../db/database.ts';
import type { GivenRedirect } from '../catalogue/redirects/save.ts';
import type {
  CategoryRecord,
  CouponRecord,
  CustomerRecord,
  LegalRecord,
  OrderRecord,
  ProductRecord,
  Read,
  RedirectRecord,
} from './records.ts';

/** Another shop, whose records can be read one after the other. A kind that it does not have is missing. */
export interface ImportSource {
  /** Names it in the table of imported records. */
  name: string;
  category?: () => AsyncIterable<Read<CategoryRecord>>;
  product?: () => AsyncIterable<Read<ProductRecord>>;
  customer?: () => AsyncIterable<Read<CustomerRecord>>;
  /** `skip` tells which orders were imported before; a source that is slow to read may leave them out. */
  order?: (
    skip: (sourceIds: readonly string[]) => Promise<ReadonlySet<string>>,
  ) => AsyncIterable<Read<OrderRecord>>;
  coupon?: () => AsyncIterable<Read<CouponRecord>>;
  legal?: () => AsyncIterable<Read<LegalRecord>>;
  redirect?: () => AsyncIterable<Read<RedirectRecord>>;
  /** What the target of a redirect there is here. */
  resolve?: (
    tx: Transaction,
    shopId: string,
    target: string,
  ) => Promise<Pick<GivenRedirect, 'kind' | 'target'>>;
  /** Files that are none of its exports. */
  unknownFiles: readonly string[];
}
