import type { Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  mcp: async ({ config, arguments: [shopId], options }) => {
    const token = process.env['KONTOR_TOKEN'];
    if (!token) {
      throw new CommandProblem(
        `KONTOR_TOKEN is not set. Create a token: npx kontor token create ${shopId} --scopes products_read,orders_read`,
      );
    }
    const origin = parseOrigin(options['url'] ?? `http://localhost:${config.PORT}`);
    // The library takes a third of a second to load, so only this command loads it.
    const { serveAssistant } = await import('./mcp/server.ts');
    await serveAssistant({ origin, shopId: shopId!, token, mayWrite: options['write'] === true });
  },
} satisfies Handlers;

function parseOrigin(text: string | boolean): string {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/$/, '');
  throw new CommandProblem(`--url is an address such as https://shop.example, not ${JSON.stringify(text)}.`);
}
