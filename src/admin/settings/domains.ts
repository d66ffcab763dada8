import { html } from '../../http/html.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import type { ShopPages } from '../pages.ts';
import { sectionPage } from './section-page.ts';

export function domains(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'domains',
    sections: ['domains'],
    beside: async (visit) => {
      const words = visit.words.settings.domainView;
      const server = new URL(visit.origin).hostname;
      const { domains: hosts } = visit.settings;
      return html`<section class="card">
        <h2>${words.title}</h2>
        <p>
          ${words.now} <a href="${visit.storefront}" target="_blank" rel="noopener">${visit.storefront}</a>
        </p>
        <ol class="directions">
          <li>${words.dns({ server })}</li>
          <li>${words.add}</li>
          <li>${words.certificate}</li>
        </ol>
        ${
          hosts.length > 0 &&
          html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">${words.name}</th>
                  <th scope="col">${words.type}</th>
                  <th scope="col">${words.value}</th>
                </tr>
              </thead>
              <tbody>
                ${hosts.map(
                  (host) =>
                    html`<tr>
                      <td>${host}</td>
                      <td>CNAME</td>
                      <td>${server}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
        }
      </section>`;
    },
  });
}
