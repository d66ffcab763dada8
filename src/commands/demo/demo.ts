import type { Demo } from '../../main.ts';
import { completeDemoShop } from './add-files.ts';
import { createDemoShops, findDemoAccess, hasDemoTokens } from './demo-shop.ts';

/** What the service does with the demo shop when it starts. */
export const demo: Demo = {
  createShops: createDemoShops,
  findAccess: findDemoAccess,
  complete: completeDemoShop,
  hasTokens: hasDemoTokens,
};
