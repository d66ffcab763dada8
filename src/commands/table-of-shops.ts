import { HOST_SCOPES, SCOPES } from '../http/scopes.ts';
import type { Command } from './command.ts';

/** Shops, and the access to them. */
export const shopCommands: readonly Command[] = [
  {
    name: 'shop create',
    arguments: ['ID'],
    summary: 'Create a shop.',
    details:
      'ID is 1 to 63 letters, digits, - or _, and begins every address of the shop. On a terminal you are asked for what\n' +
      'you do not say; elsewhere, and with --yes, it is the default. The shop has the taxes of its country, a way to\n' +
      'deliver and a way to pay, drafts of its legal texts, and a logo drawn from its name. It opens at once when the\n' +
      'seller, a way to pay and the legal texts are given, by --settings and --legal; else it says "opening soon", and\n' +
      'the command lists what is missing.',
    example: 'shop create MyShop --name "Tea & Time" --country AT --email hello@tea-time.example',
    options: {
      name: { type: 'string', value: 'NAME', summary: 'What customers read (default: the id).' },
      country: {
        type: 'string',
        value: 'CODE',
        summary: 'Where the shop sits and delivers to (default: DE).',
      },
      language: {
        type: 'string',
        value: 'LOCALE',
        summary: 'Such as de or de_AT (default: of the country, else en_GB).',
      },
      currency: { type: 'string', value: 'CODE', summary: 'Such as EUR (default: of the country).' },
      email: { type: 'string', value: 'ADDRESS', summary: 'Where customers write to.' },
      settings: { type: 'string', value: 'FILE.yaml', summary: 'Settings, as shop apply takes them.' },
      legal: { type: 'string', value: 'FOLDER', summary: 'Legal texts, as shop apply takes them.' },
      closed: { type: 'boolean', summary: 'Refuse everybody, also the API, until: npx kontor shop open ID' },
      yes: { type: 'boolean', summary: 'Do not ask.' },
      demo: { type: 'boolean', summary: 'Fill it with the data of the demo shop instead.' },
    },
    run: async (call) => (await import('./shop.ts')).handlers['shop create'](call),
  },
  {
    name: 'shop open',
    arguments: ['ID'],
    summary: 'Open a shop that is closed or not open yet.',
    details:
      'A new shop opens when it is ready; what is missing is listed. A shop that was closed with shop close works again,\n' +
      'and one that the host has planned to delete stays.',
    example: 'shop open MyShop',
    options: {
      force: {
        type: 'boolean',
        summary: 'Open it although something is missing, such as to try things out.',
      },
    },
    run: async (call) => (await import('./shop.ts')).handlers['shop open'](call),
  },
  {
    name: 'shop close',
    arguments: ['ID'],
    summary: 'Close a shop: only its admin works.',
    details: 'Pages and API refuse everybody, within seconds. Nothing is lost.',
    example: 'shop close MyShop',
    run: async (call) => (await import('./shop.ts')).handlers['shop close'](call),
  },
  {
    name: 'shop list',
    summary: 'List the shops.',
    example: 'shop list',
    run: async (call) => (await import('./shop.ts')).handlers['shop list'](call),
  },
  {
    name: 'shop delete',
    arguments: ['ID'],
    summary: 'Delete a shop and everything in it.',
    details: 'It cannot be undone. Write a backup first: npx kontor shop backup ID FILE',
    example: 'shop delete MyShop',
    options: { yes: { type: 'boolean', summary: 'Do not ask.' } },
    run: async (call) => (await import('./shop.ts')).handlers['shop delete'](call),
  },
  {
    name: 'shop copy',
    arguments: ['ID', 'COPY'],
    summary: 'Copy a shop, also as a sandbox.',
    details:
      'The copy has the products, pictures, pages and settings of the shop, and the people who work in it. It has no\n' +
      'domains, tokens, apps, webhooks or keys of payment providers, and, unless you say --with-customers, no customers and\n' +
      'no orders. A sandbox sends no emails, takes demo payments only, is not found by search engines, and has a clock that\n' +
      'can be advanced. A shop has at most five.',
    example: 'shop copy MyShop MySandbox --sandbox',
    options: {
      sandbox: { type: 'boolean', summary: 'A sandbox: nothing leaves it, and it says so on every page.' },
      'with-customers': { type: 'boolean', summary: 'Also customers and orders, with their personal data.' },
    },
    run: async (call) => (await import('./backup/commands.ts')).handlers['shop copy'](call),
  },
  {
    name: 'shop move',
    arguments: ['ID'],
    summary: 'Move a shop to another node of the cluster.',
    details:
      'The shop sells meanwhile; its writes wait for a moment at the end. NODE is the host and port of a worker, as\n' +
      'npx kontor db status shows it. A shop that was moved has shards of its own, and can be moved again at once.',
    example: 'shop move MyShop --to db2.internal:5432',
    options: {
      to: { type: 'string', value: 'NODE', summary: 'The node, such as db2.internal:5432.', required: true },
    },
    run: async (call) => (await import('./shop.ts')).handlers['shop move'](call),
  },
  {
    name: 'shop apply',
    arguments: ['ID', 'FILE.yaml'],
    summary: 'Apply settings from a file; says what changes.',
    details:
      'A section that the file does not name stays as it is; a section that it names is replaced as a whole.\nApplying the same file again changes nothing. Two complete files are in examples/.\n\nThe folder of --legal holds texts as HTML files, such as privacy-policy.html, or privacy-policy.de_DE.html where the\nlanguage is not the default one. The pages are contact-information, privacy-policy, terms-and-conditions,\nrights-of-withdrawal, shipping-information and cookie-policy.\n\nThe folder of --pages holds pages as YAML files, as shop export-settings writes them. A page that no file names stays.',
    example: 'shop apply MyShop examples/german-shop.yaml --dry-run',
    options: {
      legal: { type: 'string', value: 'FOLDER', summary: 'Replace legal texts by the files of a folder.' },
      pages: { type: 'string', value: 'FOLDER', summary: 'Write the pages of a folder, one in each file.' },
      'dry-run': { type: 'boolean', summary: 'Only say what would change.' },
    },
    run: async (call) => (await import('./shop.ts')).handlers['shop apply'](call),
  },
  {
    name: 'shop export-settings',
    arguments: ['ID'],
    summary: 'Print the settings as a file for shop apply.',
    example: 'shop export-settings MyShop > my-shop.yaml',
    options: {
      pages: {
        type: 'string',
        value: 'FOLDER',
        summary: 'Also write each page of the shop to a file there.',
      },
    },
    run: async (call) => (await import('./shop.ts')).handlers['shop export-settings'](call),
  },
  {
    name: 'shop confirm-domain',
    arguments: ['ID', 'HOST'],
    summary: 'Let a shop use a domain without a proof.',
    details:
      'A shop names its domains in its settings, and proves each with a record in the DNS, which the admin shows. Where you\n' +
      "run the DNS yourself, or know that the domain is the shop's, this command takes the place of the proof.",
    example: 'shop confirm-domain MyShop www.tea-time.example',
    run: async (call) => (await import('./domains.ts')).handlers['shop confirm-domain'](call),
  },
  {
    name: 'shop backup',
    arguments: ['ID', 'FILE'],
    summary: 'Write a shop with its files to a backup.',
    details:
      'The shop as it is in one moment, while it goes on selling. The file holds the data of all customers and is\nreadable for its owner only. Read it back with: npx kontor shop restore FILE',
    example: 'shop backup MyShop my-shop.backup',
    run: async (call) => (await import('./backup/commands.ts')).handlers['shop backup'](call),
  },
  {
    name: 'shop export',
    arguments: ['ID', 'FOLDER'],
    summary: 'Write a shop in open formats.',
    details:
      'JSON Lines for all data of the merchant, invoices as PDF and XML, and pictures: docs/open-export.md says what is in\n' +
      'them. The shop as it is in one moment, while it goes on selling. Secrets are left out, so it is no backup. The folder\n' +
      'must be empty; it holds the data of all customers and is readable for its owner only.',
    example: 'shop export MyShop my-shop --open',
    options: { open: { type: 'boolean', summary: 'In open formats. There are no others.' } },
    run: async (call) => (await import('./backup/commands.ts')).handlers['shop export'](call),
  },
  {
    name: 'shop restore',
    arguments: ['FILE'],
    summary: 'Restore a shop from a backup.',
    details:
      'All of the shop or nothing. A shop of this id must not exist. Under another id (--as), access tokens, domains\nand webhooks are left out. Secrets of apps are left out unless this installation has the key of the one that made the backup:\nthe same KONTOR_SECRET, or --source-key.',
    example: 'shop restore my-shop.backup --as MyShopCopy',
    options: {
      as: { type: 'string', value: 'ID', summary: 'Give the shop another id.' },
      'source-key': {
        type: 'string',
        value: 'KEYFILE',
        summary: 'The secret.key of the installation that made the backup, or a file with its KONTOR_SECRET.',
      },
    },
    run: async (call) => (await import('./backup/commands.ts')).handlers['shop restore'](call),
  },
  {
    name: 'user create',
    arguments: ['EMAIL'],
    summary: 'Create a user of the admin, or give one a role.',
    details: async () => {
      const { ROLES } = await import('../admin/users/permissions.ts');
      return `Prints a link to choose a password, unless the user has one. It works once, within 24 hours.\n\nThe roles are ${ROLES.join(', ')}. A user may work in several shops: run the command once for each.`;
    },
    example: 'user create ina@tea-time.example --shop MyShop --role orders',
    options: {
      shop: { type: 'string', value: 'ID', summary: 'The shop to work in.' },
      role: { type: 'string', value: 'ROLE', summary: 'What the user may do there (default: owner).' },
      host: { type: 'boolean', summary: 'May create shops and see the state of the installation.' },
    },
    run: async (call) => (await import('./user.ts')).handlers['user create'](call),
  },
  {
    name: 'user reset',
    arguments: ['EMAIL'],
    summary: 'Print a link to choose a new password.',
    details:
      'It works once, within 24 hours. All browsers of the user are signed out. The authenticator app stays, unless\n--remove-authenticator is given.',
    example: 'user reset ina@tea-time.example',
    options: {
      'remove-authenticator': {
        type: 'boolean',
        summary: 'Also switch off the authenticator app, when the phone is lost.',
      },
    },
    run: async (call) => (await import('./user.ts')).handlers['user reset'](call),
  },
  {
    name: 'user delete',
    arguments: ['EMAIL'],
    summary: 'Delete a user of the admin.',
    details:
      'All browsers of the user are signed out, and the roles in all shops end. What the user did stays in the audit\nlogs. The only owner of a shop is not deleted.',
    example: 'user delete ina@tea-time.example',
    run: async (call) => (await import('./user.ts')).handlers['user delete'](call),
  },
  {
    name: 'user list',
    summary: 'List the users of the admin.',
    example: 'user list',
    run: async (call) => (await import('./user.ts')).handlers['user list'](call),
  },
  {
    name: 'token create',
    arguments: ['ID'],
    summary: 'Create an access token and print it.',
    details: `The token is shown this once, alone on stdout; the database keeps only its hash.\n\n${scopesHelp()}`,
    example: 'token create MyShop --scopes products_read,orders_read --expires 90d',
    options: {
      scopes: { type: 'string', value: 'all|A,B,C', required: true, summary: 'Its permissions.' },
      app: { type: 'string', value: 'NAME', summary: 'The app it belongs to (default: private app).' },
      expires: { type: 'string', value: 'DAYSd|DATE', summary: 'When it ends: 90d, or 2027-01-31.' },
      networks: { type: 'string', value: 'CIDR,CIDR', summary: 'Where calls may come from: 203.0.113.0/24.' },
    },
    run: async (call) => (await import('./token.ts')).handlers['token create'](call),
  },
  {
    name: 'token list',
    arguments: ['ID'],
    summary: 'List the tokens of a shop.',
    example: 'token list MyShop',
    run: async (call) => (await import('./token.ts')).handlers['token list'](call),
  },
  {
    name: 'token revoke',
    arguments: ['ID', 'TOKEN'],
    summary: 'Revoke a token.',
    details:
      'TOKEN is the token itself, or what token list shows of it. Running services refuse it within 5 seconds.',
    example: 'token revoke MyShop 3f9a61c04b7e',
    run: async (call) => (await import('./token.ts')).handlers['token revoke'](call),
  },
  {
    name: 'host token create',
    summary: 'Create a token of the host and print it.',
    details: `It opens the API at /host, for creating, closing and deleting shops, and nothing of a shop. The token is shown this\nonce, alone on stdout; the database keeps only its hash. The scopes are: ${HOST_SCOPES.join(', ')}`,
    example: 'host token create --scopes all --name "order system"',
    options: {
      scopes: { type: 'string', value: 'all|A,B,C', required: true, summary: 'Its permissions.' },
      name: { type: 'string', value: 'NAME', summary: 'Who uses it; the log names it (default: host).' },
    },
    run: async (call) => (await import('./host.ts')).handlers['host token create'](call),
  },
  {
    name: 'host token list',
    summary: 'List the tokens of the host.',
    example: 'host token list',
    run: async (call) => (await import('./host.ts')).handlers['host token list'](call),
  },
  {
    name: 'host token end',
    arguments: ['TOKEN'],
    summary: 'End a token of the host.',
    details: 'TOKEN is the token itself, or its id in the list. Running services refuse it within 5 seconds.',
    example: 'host token end 0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E',
    run: async (call) => (await import('./host.ts')).handlers['host token end'](call),
  },
  {
    name: 'app create',
    arguments: ['ID'],
    summary: 'Register an app; prints its id and secret.',
    details: `The secret is shown this once. Install the app with: npx kontor app install ID CLIENT_ID\n\n${scopesHelp()}`,
    example: 'app create MyShop --name Labels --callback https://labels.example/install --scopes orders_read',
    options: {
      name: { type: 'string', value: 'N', required: true, summary: 'Its name, unique in the shop.' },
      callback: {
        type: 'string',
        value: 'URL',
        required: true,
        summary: 'Where the installation calls the app.',
      },
      scopes: { type: 'string', value: 'all|A,B,C', required: true, summary: 'Its permissions.' },
    },
    run: async (call) => (await import('./app.ts')).handlers['app create'](call),
  },
  {
    name: 'app install',
    arguments: ['ID', 'CLIENT_ID'],
    summary: 'Print where a merchant installs an app.',
    details:
      'It is a page of the admin: the merchant sees what the app may do, and agrees. The app then gets a single-use\ncode and exchanges it for its token within 10 minutes. An older token of the app ends with that. Links are built\nfrom PUBLIC_URL, or HOST and PORT.',
    example: 'app install MyShop 0192D3A4-5B6C-7D8E-9F00-112233445566',
    options: {
      agreed: {
        type: 'boolean',
        summary: 'The merchant has agreed: print the address of the app, with the code.',
      },
    },
    run: async (call) => (await import('./app.ts')).handlers['app install'](call),
  },
  {
    name: 'app dev',
    arguments: ['ID', 'ADDRESS'],
    summary: 'Install an app that you build, and watch it.',
    details:
      'ADDRESS is where the app runs, such as http://localhost:3000, or that of its manifest. The app is installed as if the\n' +
      'merchant had agreed to all it asks for. As long as the command runs, it sends the webhooks of the app and shows the\n' +
      'answers, and takes over each change of the manifest. Without a service on this machine it starts one, and ends it with\n' +
      'itself. The app stays installed; its webhooks end. Ends with Ctrl+C.',
    example: 'app dev DemoShop http://localhost:3000',
    run: async (call) => (await import('./app-dev.ts')).handlers['app dev'](call),
  },
  {
    name: 'app list',
    arguments: ['ID'],
    summary: 'List the apps of a shop.',
    example: 'app list MyShop',
    run: async (call) => (await import('./app.ts')).handlers['app list'](call),
  },
  {
    name: 'app delete',
    arguments: ['ID', 'APP'],
    summary: 'Uninstall an app.',
    details: 'APP is its name or its client id. Its tokens and its script tags go with it.',
    example: 'app delete MyShop Labels',
    run: async (call) => (await import('./app.ts')).handlers['app delete'](call),
  },
];

/** For the help of the commands that take scopes. */
function scopesHelp(): string {
  const perLine = 4;
  const lines = SCOPES.flatMap((_, index) =>
    index % perLine === 0 ? [`  ${SCOPES.slice(index, index + perLine).join(', ')}`] : [],
  );
  return ['The scopes are all, or some of these, separated by commas:', ...lines].join('\n');
}
