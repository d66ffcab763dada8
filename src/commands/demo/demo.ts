import type { Demo } from '../../main.ts';
import { completeDemoShop } from './add-files.ts';
import { createDemoShops, findDemoAccess, hasDemoTokens } from './demo-shop.ts';

/** The service's handling of the demo shop at start. */
export const demo: Demo = {
  createShops: createDemoShops,
  findAccess: findDemoAccess,
  complete: completeDemoShop,
  hasTokens: hasDemoTokens,
};
