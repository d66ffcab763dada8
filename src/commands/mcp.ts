import { CommandProblem, type Command } from './command.ts';

export const mcpCommands: Command[] = [
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
      write: { type: 'boolean', summary: 'Let it change prices and stock, ship and cancel orders.' },
    },
    run: async ({ config, arguments: [shopId], options }) => {
      const token = process.env['KONTOR_TOKEN'];
      if (!token) {
        throw new CommandProblem(
          `KONTOR_TOKEN is not set. Create a token: npx kontor token create ${shopId} --scopes products_read,orders_read`,
        );
      }
      const origin = parseOrigin(options['url'] ?? `http://localhost:${config.PORT}`);
      // The library takes a third of a second to load, so only this command does it.
      const { serveAssistant } = await import('./mcp/server.ts');
      await serveAssistant({ origin, shopId: shopId!, token, mayWrite: options['write'] === true });
    },
  },
];

function parseOrigin(text: string | boolean): string {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/$/, '');
  throw new CommandProblem(`--url is an address such as https://shop.example, not ${JSON.stringify(text)}.`);
}
