import type { Permission } from '../users/permissions.ts';

/** The entries of the menu in order. Users without the permission do not see the entry. */
export const MENU = [
  { name: 'home', path: '', permission: 'member' },
  { name: 'orders', path: '/orders', permission: 'orders_read' },
  { name: 'products', path: '/products', permission: 'products_read' },
  { name: 'categories', path: '/categories', permission: 'products_read' },
  { name: 'pages', path: '/pages', permission: 'legal_read' },
  { name: 'customers', path: '/customers', permission: 'customers_read' },
  { name: 'marketing', path: '/marketing', permission: 'coupons_read' },
  { name: 'reports', path: '/reports', permission: 'orders_read' },
  { name: 'settings', path: '/settings', permission: 'settings_read' },
  { name: 'apps', path: '/apps', permission: 'apps_read' },
] as const satisfies readonly { name: string; path: string; permission: Permission | 'member' }[];

export type MenuEntry = (typeof MENU)[number]['name'];

/** The entry of an app's page. */
export type AppMenuEntry = `app ${string}`;

export const appMenuEntry = ({ appId }: { appId: string }, { name }: { name: string }): AppMenuEntry =>
  `app ${appId} ${name}`;
