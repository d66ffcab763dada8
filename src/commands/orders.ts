import { orderFile, orderLineFile } from '../admin/orders/files.ts';
import { isLanguage } from '../admin/messages.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { recordCommand, withShop, type Handlers } from './command.ts';
import { writeText } from './output.ts';

export const handlers = {
  'orders export': ({ config, arguments: [shopId], options }) =>
    withShop(config, shopId!, async (db) => {
      const settings = await shopSettings(db, shopId!);
      const spoken = settings.defaultLocale.slice(0, 2);
      const language = isLanguage(spoken) ? spoken : 'en';
      await db.transaction((tx) => recordCommand(tx, shopId!, 'orders export'));
      const text =
        options['lines'] === true ? orderLineFile(db, settings, language) : orderFile(db, shopId!, language);
      await writeText(text, options['output']);
    }),
} satisfies Handlers;
