import type { Command } from './command.ts';
import { shopCommands } from './table-of-shops.ts';

const OUTPUT_OPTION = { type: 'string', value: 'FILE', summary: 'Write to this file instead.' } as const;

/**
 * All commands, in the order of the help. They load no part of the application: the module of a command is loaded when
 * it runs, so help, version and a wrong call respond at once.
 */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Start the service (also without a command).',
    details: 'Settings come from the environment: docs/configuration.md lists them.',
    example: 'serve',
    run: async (call) => (await import('./serve.ts')).handlers['serve'](call),
  },
  ...shopCommands,
  {
    name: 'webhook listen',
    arguments: ['ID'],
    summary: 'Show the events of a shop as they happen.',
    details: async () => {
      const { EVENT_TYPE_NAMES } = await import('../platform/events/types.ts');
      return (
        'For developers: it needs no receiver that the internet can reach, and nothing is stored. With --forward each event\n' +
        'is sent to an address as a webhook would send it, signed with a secret that is made for this run. Ends with Ctrl+C.\n\n' +
        `Types: ${EVENT_TYPE_NAMES.join(', ')}`
      );
    },
    example: 'webhook listen MyShop --types ORDER_CREATE --forward http://localhost:3000',
    options: {
      types: { type: 'string', value: 'A,B,C', summary: 'Only these types (default: all).' },
      forward: {
        type: 'string',
        value: 'URL',
        summary: 'Send them to this address, such as http://localhost:3000.',
      },
      after: {
        type: 'string',
        value: 'POSITION',
        summary: 'Begin after this position (default: with what comes).',
      },
    },
    run: async (call) => (await import('./webhook.ts')).handlers['webhook listen'](call),
  },
  {
    name: 'payment set',
    arguments: ['SHOP', 'METHOD'],
    summary: 'Set the keys of a payment provider.',
    details: async () => {
      const { PROVIDER_LABELS } = await import('../orders/payments/providers.ts');
      return (
        'METHOD is the key of a payment method whose provider in the settings is one of\n' +
        `${Object.keys(PROVIDER_LABELS).join(', ')}. Each value is asked for and not shown; Enter keeps what is set.\n` +
        'Without a terminal, lines NAME=VALUE are read from the standard input; NAME= takes a value away.\n' +
        'Values are sealed with the key of the installation, and no command shows them.'
      );
    },
    example: 'payment set MyShop card',
    options: { show: { type: 'boolean', summary: 'List which values are set, and change nothing.' } },
    run: async (call) => (await import('./payment.ts')).handlers['payment set'](call),
  },
  {
    name: 'mail preview',
    arguments: ['SHOP', '[KIND]'],
    summary: 'Write an email as files, or list the kinds.',
    details:
      'Nothing is sent. The email is about the last order of the shop; what an order does not have, such as a tracking\n' +
      'code, is made up, and so is everything in a shop without orders. Beside the page (.html) there are the plain text\n' +
      '(.txt) and the whole message with its attachments (.eml), which email programs open. The links are real: anyone who\n' +
      'has the files can open the page of the order.',
    example: 'mail preview MyShop order --locale de_DE',
    options: {
      locale: {
        type: 'string',
        value: 'LOCALE',
        summary: "Such as de_DE (default: the order's, else the shop's).",
      },
      out: {
        type: 'string',
        value: 'FILE.html',
        summary: 'Where to write it (default: KIND.html in this folder).',
      },
    },
    run: async (call) => (await import('./mail.ts')).handlers['mail preview'](call),
  },
  {
    name: 'products export',
    arguments: ['SHOP'],
    summary: 'Print the products as CSV.',
    details:
      'All columns that products import can read, with semicolons between the cells: reading the file back changes nothing.\n' +
      'Images are addresses of this service (PUBLIC_URL), so another installation can fetch them while it runs.',
    example: 'products export MyShop --output products.csv',
    options: { output: OUTPUT_OPTION },
    run: async (call) => (await import('./products.ts')).handlers['products export'](call),
  },
  {
    name: 'products import',
    arguments: ['SHOP', 'FILE.csv'],
    summary: "Read products from a file like the export's.",
    details:
      'Rows with the number of a product change it, others are new. A column that the file does not have leaves its\n' +
      'attribute alone, an empty cell unsets it. Bad rows are reported with their line; all others are kept.\n' +
      'Cells are separated by semicolons, commas or tabs; decimals may have a comma. Columns are found by their usual\n' +
      'names too, such as SKU, Name, Price, Stock, and texts in a language as Name/de. Categories are paths such as\n' +
      'Kitchen > Kettles | Sale, and are made where they are missing. Images are addresses, or files beside FILE.csv, with\n' +
      'bars between them; ImageTexts/en says what they show, in the same order. TaxClass is a key or a rate of the shop.\n' +
      'The columns of products export can all be read back.',
    example: 'products import MyShop products.csv --dry-run',
    options: {
      'dry-run': { type: 'boolean', summary: 'Only say what would be imported.' },
      invisible: { type: 'boolean', summary: 'Do not show new products in the shop yet.' },
    },
    run: async (call) => (await import('./products.ts')).handlers['products import'](call),
  },
  {
    name: 'import',
    arguments: ['SHOP', 'SYSTEM', '[SOURCE]'],
    summary: 'Bring a shop from another system.',
    details:
      'From shopify, woocommerce and shopware, SOURCE is what they export: a CSV file, a folder with several, or a zip. Files are\n' +
      'known by their columns. From epages, the shop is read by its REST API: --url and --token. Run it again whenever\n' +
      'the old shop has changed: what is the same is left alone, and what was edited here is kept and listed. Orders are history: they take no stock, send no email and get no invoice. Old addresses of products\n' +
      'are redirected. Everything that could not be taken is listed with its file and line.',
    example: 'import MyShop shopify export.zip --dry-run',
    options: {
      'dry-run': { type: 'boolean', summary: 'Only say what would be imported.' },
      only: {
        type: 'string',
        value: 'A,B',
        summary: 'Only these: categories, products, customers, orders, coupons, legal, redirects.',
      },
      url: {
        type: 'string',
        value: 'URL',
        summary: 'The API of the shop: https://shop.example/rs/shops/MyShop.',
      },
      token: { type: 'string', value: 'TOKEN', summary: 'An access token of that shop.' },
      report: { type: 'string', value: 'FILE', summary: 'Write all that was left out to this file.' },
      'next-order-number': {
        type: 'string',
        value: 'NUMBER',
        summary: 'The number of the next order (default: after the last imported one).',
      },
      'next-invoice-number': { type: 'string', value: 'NUMBER', summary: 'The number of the next invoice.' },
    },
    run: async (call) => (await import('./import.ts')).handlers['import'](call),
  },
  {
    name: 'orders export',
    arguments: ['SHOP'],
    summary: 'Print the orders as CSV, newest first.',
    details:
      'One line for each order, with the titles in the language of the shop: number, day, customer, email, country, total,\n' +
      'currency, what was paid and refunded, and when it was shipped or cancelled. With --lines, one line for each item of\n' +
      'each order: the columns of the order again, then number, name, quantity, unit, price, amount and VAT rate. Discounts,\n' +
      'deposits, delivery and payment are items too, and so is VAT on top of net prices: the amounts of an order add up to\n' +
      'its total. Every export is in the audit log.',
    example: 'orders export MyShop --lines --output orders.csv',
    options: {
      lines: { type: 'boolean', summary: 'One line for each item of each order.' },
      output: OUTPUT_OPTION,
    },
    run: async (call) => (await import('./orders.ts')).handlers['orders export'](call),
  },
  {
    name: 'customers export',
    arguments: ['SHOP'],
    summary: 'Print the customers as CSV.',
    details:
      'One line for each customer, with the titles in the language of the shop: number, address, group, since when, how many\n' +
      'orders and what they were worth. Every export is in the audit log. All data about one person: customer export.',
    example: 'customers export MyShop --output customers.csv',
    options: { output: OUTPUT_OPTION },
    run: async (call) => (await import('./customers.ts')).handlers['customers export'](call),
  },
  {
    name: 'customer export',
    arguments: ['SHOP', 'ID'],
    summary: 'Print all data about a person, as JSON.',
    details:
      'ID is the id or the number of the customer. Besides orders, everything with an email address of\nthe customer or of the orders is included. Every export is in the audit log.',
    example: 'customer export MyShop 1001 --output 1001.json',
    options: { output: OUTPUT_OPTION },
    run: async (call) => (await import('./customer.ts')).handlers['customer export'](call),
  },
  {
    name: 'customer erase',
    arguments: ['SHOP', 'ID'],
    summary: 'Erase a person; invoices stay.',
    details:
      'ID is the id or the number of the customer. Orders keep their numbers, lines and sums and lose their addresses;\na customer without orders is deleted, and so are open carts, subscriptions, watches\nand unsent emails. It cannot be undone.',
    example: 'customer erase MyShop 1001',
    options: {
      yes: { type: 'boolean', summary: 'Do not ask.' },
      force: { type: 'boolean', summary: 'Also when orders are not finished.' },
    },
    run: async (call) => (await import('./customer.ts')).handlers['customer erase'](call),
  },
  {
    name: 'mcp',
    arguments: ['SHOP'],
    summary: 'Offer a shop to an assistant, by MCP.',
    details:
      'MCP is the Model Context Protocol: an assistant starts this command and speaks to it over stdin and stdout. It calls\n' +
      'a running service with the access token in the variable KONTOR_TOKEN, and may do what the scopes of the token allow.\n' +
      'Without --write it only reads.',
    example: 'mcp DemoShop --url http://localhost:8080',
    options: {
      url: { type: 'string', value: 'URL', summary: 'Where the service is (default: this machine).' },
      write: { type: 'boolean', summary: 'Let it change the shop, except for what a person must confirm.' },
    },
    run: async (call) => (await import('./mcp.ts')).handlers['mcp'](call),
  },
  {
    name: 'demo open',
    summary: 'Open demo access again on this machine.',
    details:
      'The known tokens, the demo owner without a password, the demo payment, domains without a proof and webhooks to\n' +
      'private addresses are for a machine on which you try things out. The first request that comes through a proxy or\n' +
      'from a stranger closes them for good. Run this only when nobody else can reach the service.',
    example: 'demo open',
    run: async (call) => (await import('./demo.ts')).handlers['demo open'](call),
  },
  {
    name: 'demo generate',
    arguments: ['SHOP'],
    summary: 'Fill a shop with many made-up products.',
    details:
      'The same seed makes the same products, numbered G<seed>-000001 and so on; what is there already is not made\nagain. Variations of products come in addition.',
    example: 'demo generate MyShop --products 1000',
    options: {
      products: { type: 'string', value: 'N', required: true, summary: 'How many, at most 5,000,000.' },
      seed: { type: 'string', value: 'S', summary: 'A whole number; 1 when not said.' },
    },
    run: async (call) => (await import('./demo.ts')).handlers['demo generate'](call),
  },
  {
    name: 'doctor',
    summary: 'Check this installation, and say what to do.',
    details:
      'Looks at versions, memory, disk, clock, database, pending migrations, backups, email, at PUBLIC_URL as others see\n' +
      'it, and at the certificates of domains. Changes nothing. Exit code 1 if there is a problem; notes are none.',
    example: 'doctor',
    run: async (call) => (await import('./doctor/doctor.ts')).handlers['doctor'](call),
  },
  {
    name: 'upgrade',
    summary: 'Say what an upgrade to this version would do.',
    details:
      'Nothing is changed and nothing is installed: run it with the new version, before it serves for the first time.\n' +
      'Prints the changelog since the version that has served last, then migrations to apply, whether there is a way\n' +
      'back, and backups. No other machine is asked, unless --online asks npm for the newest version.\n' +
      'Exit code 1 if there is a problem. How to upgrade: docs/operations/upgrade.md.',
    example: 'upgrade --check',
    options: {
      check: { type: 'boolean', required: true, summary: 'Only look: npm or git installs.' },
      online: { type: 'boolean', summary: 'Ask npm for the newest published version, too.' },
      registry: {
        type: 'string',
        value: 'URL',
        summary: 'Ask this registry (default: https://registry.npmjs.org).',
      },
    },
    run: async (call) => (await import('./upgrade/upgrade.ts')).handlers['upgrade'](call),
  },
  {
    name: 'db migrate',
    summary: 'Bring the schema up to date (every start does).',
    example: 'db migrate',
    run: async (call) => (await import('./db.ts')).handlers['db migrate'](call),
  },
  {
    name: 'db status',
    summary: 'Show the migrations, and where shops live.',
    example: 'db status',
    run: async (call) => (await import('./db.ts')).handlers['db status'](call),
  },
  {
    name: 'db distribute',
    summary: 'Distribute the tables over a Citus cluster.',
    details:
      'DATABASE_URL is the coordinator of the cluster. Every table of shops is distributed by shop, with its rows, and\n' +
      'all rows of one shop are on one node. Stop the service before: the tables are locked until it is done. It is done\n' +
      'as a whole or not at all, and may be called again. See docs/operations/citus.md.',
    example: 'db distribute --shards 64',
    options: {
      shards: {
        type: 'string',
        value: 'N',
        summary: 'Pieces of each table, and so the most nodes it can have (32).',
      },
    },
    run: async (call) => (await import('./db.ts')).handlers['db distribute'](call),
  },
];
