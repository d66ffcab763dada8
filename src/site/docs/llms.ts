import type { Guides } from './guides.ts';

/** `/llms.txt` (llmstxt.org): what this service is, and where a program finds the rest as plain text. */
export function llmsText(origin: string, { chapters, pages }: Guides): string {
  const fileOf = new Map(pages.map(({ url, file }) => [url, file]));
  const lines = chapters.flatMap(({ title, links }) => [
    '',
    `## ${title}`,
    '',
    ...links.map((link) => `- [${link.title}](${origin}/docs/${fileOf.get(link.url)})`),
  ]);
  return `# Kontor

> An open-source shop back end. One HTTP service holds any number of shops (products, carts, orders, customers, payments)
> in PostgreSQL and speaks the ePages REST API.

Every address of the API begins with ${origin}/rs/shops/{shopId}, or with ${origin}/manage/shops/{shopId} for what goes
beyond that API. Send the token of a shop as \`Authorization: Bearer TOKEN\`. The demo shop is DemoShop; where only this
machine can call, its token is demo-all.

- [OpenAPI 3.1](${origin}/openapi.json): every operation with its fields, its scope, and an example that works in the demo shop
${lines.join('\n')}
`;
}
