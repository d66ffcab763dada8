import { customerFile } from '../admin/customers/customer-list.ts';
import { words } from '../admin/messages.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { recordCommand, withShop, type Command } from './command.ts';
import { OUTPUT_OPTION, writeText } from './output.ts';

export const customersCommands: Command[] = [
  {
    name: 'customers export',
    arguments: ['SHOP'],
    summary: 'Print the customers as CSV.',
    details:
      'One line for each customer, with the titles in the language of the shop: number, address, group, since when, how many\n' +
      'orders and what they were worth. Every export is in the audit log. All data about one person: customer export.',
    example: 'customers export MyShop --output customers.csv',
    options: { output: OUTPUT_OPTION },
    run: ({ config, arguments: [shopId], options }) =>
      withShop(config, shopId!, async (db) => {
        const settings = await shopSettings(db, shopId!);
        await db.transaction((tx) => recordCommand(tx, shopId!, 'customers export'));
        const text = customerFile(
          { db, shopId: shopId!, words: words(settings.defaultLocale), settings },
          { text: '', customerGroupId: '' },
        );
        await writeText(text, options['output']);
      }),
  },
];
