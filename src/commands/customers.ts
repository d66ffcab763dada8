import { toFilter } from '../people/customers/customer-filter.ts';
import { customerFile } from '../admin/customers/customer-list.ts';
import { adminMessagesIn, isLanguage } from '../admin/messages.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { recordCommand, withShop, type Handlers } from './command.ts';
import { writeText } from './output.ts';

export const handlers = {
  'customers export': ({ config, arguments: [shopId], options }) =>
    withShop(config, shopId!, async (db) => {
      const settings = await shopSettings(db, shopId!);
      await db.transaction((tx) => recordCommand(tx, shopId!, 'customers export'));
      const locale = settings.defaultLocale;
      const spoken = locale.slice(0, 2);
      const language = isLanguage(spoken) ? spoken : 'en';
      const text = customerFile(
        { db, shopId: shopId!, messages: adminMessagesIn(locale), settings, locale, language },
        toFilter(() => '', settings),
      );
      await writeText(text, options['output']);
    }),
} satisfies Handlers;
