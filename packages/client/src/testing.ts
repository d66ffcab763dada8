/** For the tests of an app: a shop that can be asked, and what a shop sends, signed as it signs it. It needs Node 20. */

export { newOrder, type NewOrder, type OrderedLine } from './testing/order.ts';
export {
  startFakeShop,
  type AskedRequest,
  type FakeAnswer,
  type FakeManifest,
  type FakeShop,
  type FakeShopOptions,
} from './testing/fake-shop.ts';
export {
  newTokenKeys,
  newWebhookSecret,
  readAnswer,
  signCall,
  signWebhook,
  type PublishedKey,
  type SigningOptions,
  type TokenKeys,
} from './testing/signatures.ts';
