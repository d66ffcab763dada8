import { html, type Markup } from '../../http/html.ts';
import { settingsAsFile } from '../../shops/settings/conversion.ts';
import { SettingsProblem, type SettingsFile } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import type { Problem } from '../../shops/settings/problem.ts';
import type { SectionName } from '../../shops/settings/schema.ts';
import type { Choice } from '../components/form.ts';
import { languageTabs } from '../components/language-tabs.ts';
import { isUnchanged, versionField } from '../components/version.ts';
import { PICKER_SCRIPT, SETTINGS_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { settingChoices, settingKeys, settingPresets } from './choices.ts';
import { kindOf, schemaOf, wordPath } from './field-kind.ts';
import { translatedProblems } from './problem-text.ts';
import { PAGE_SECTIONS, type SectionPageName } from './page-sections.ts';
import { childOf, fieldTree, readValue } from './read-section.ts';
import { savedNotice, saveSettings } from './save.ts';
import { settingFieldName, type FormContext } from './form-context.ts';
import { sectionLimits } from './section-limits.ts';
import { settingField } from './section-fields.ts';
import { settingsMessages, type SettingsMessages } from './settings-messages.ts';
import type { Path } from '../../shops/settings/rules.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

/** A page with some sections of the settings file as one form. */
export interface SectionPage {
  /** Below `/settings/`; also the key of its title and of its sections. */
  name: SectionPageName;
  /** Paths of settings that `fields` shows in its own way. */
  leftOut?: readonly string[];
  /** More fields of the same form. */
  fields?: (visit: ShopVisit, form: ShownForm) => Markup;
  /** Content beside the form, such as a preview. */
  beside?: (visit: ShopVisit, request: PageRequest, form: ShownForm) => Promise<Markup>;
  /** The content beside the form is as wide as the form. */
  isEven?: boolean;
  /** More choices, by the path of the setting. */
  choices?: (visit: ShopVisit) => Promise<Readonly<Record<string, readonly Choice[]>>>;
  /** Removes fields of other choices: the form has the fields of all of them. */
  adjust?: (file: SettingsFile) => SettingsFile;
}

/** A form as shown: with the stored values, or the refused input. */
export interface ShownForm {
  /** All settings, with the typed ones replacing the stored ones. */
  file: SettingsFile;
  context: FormContext;
}

interface Refused {
  file: SettingsFile;
  /** Shown beside their fields, where they have one. */
  problems: readonly Problem[];
  /** Problems without a place. */
  lines: readonly string[];
  status: number;
}

export function sectionPage(pages: ShopPages, format: SettingsFormat, page: SectionPage): void {
  const path = `/settings/${page.name}`;
  const show = (visit: ShopVisit, request: PageRequest, refused?: Refused) =>
    formPage(visit, request, page, refused);
  pages.form(
    path,
    { read: 'settings_read', write: 'settings_write' },
    {
      show: (visit, request) => show(visit, request),
      save: async (visit, form) => {
        const typed = typedSections(page, form);
        const refuse = (refused: Omit<Refused, 'file'>) => show(visit, form, { ...refused, file: typed });
        if (!isUnchanged(form, storedSections(visit, page))) {
          return refuse({ problems: [], lines: [visit.messages.layout.changedMeanwhile], status: 409 });
        }
        try {
          const applied = await saveSettings(visit, typed, format);
          return new Redirect(adminPath(visit, path), await savedNotice(visit, applied));
        } catch (error) {
          if (!(error instanceof SettingsProblem)) throw error;
          return refuse({ ...translatedProblems(error, visit), status: 422 });
        }
      },
    },
    { limits: sectionLimits(PAGE_SECTIONS[page.name]) },
  );
}

const sectionsOf = (name: SectionPageName): readonly SectionName[] => PAGE_SECTIONS[name];

/** The stored sections of the page. */
function storedSections({ settings }: ShopVisit, { name }: SectionPage): object {
  const file: SettingsFile = settingsAsFile(settings, { textsByLocale: true });
  return Object.fromEntries(sectionsOf(name).map((section) => [section, file[section] ?? null]));
}

/** The typed sections of the page. */
function typedSections({ name, adjust }: SectionPage, form: FormRequest): SettingsFile {
  const tree = fieldTree(form);
  const file = Object.fromEntries(
    sectionsOf(name).map((section) => [section, readValue(schemaOf(section), childOf(tree, section), true)]),
  ) as SettingsFile;
  return adjust ? adjust(file) : file;
}

async function formPage(
  visit: ShopVisit,
  request: PageRequest,
  page: SectionPage,
  refused: Refused | undefined,
): Promise<AdminPage> {
  const choices = await page.choices?.(visit);
  const form = shownForm(visit, page, request, { refused, choices });
  const { messages } = visit;
  const mayWrite = visit.may('settings_write');
  const beside = await page.beside?.(visit, request, form);
  const fields = html`<form method="post" class="settings-form" data-settings novalidate>
    ${refused && problemSummary(refused, form.context.messages)} ${versionField(storedSections(visit, page))}
    ${languageTabs(form.context.locales, visit.language, messages)} ${cards(page, form)}
    ${page.fields?.(visit, form)}
    ${mayWrite && html`<div class="settings-save"><button class="main">${messages.form.save}</button></div>`}
  </form>`;
  return {
    title: messages.settings.pages[page.name],
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    scripts: [SETTINGS_SCRIPT, PICKER_SCRIPT],
    main: beside ? html`<div class="sides ${page.isEven ? 'even' : ''}">${fields}${beside}</div>` : fields,
    ...(refused && { status: refused.status }),
  };
}

export const settingsBreadcrumbs = (visit: ShopVisit) => [
  { href: adminPath(visit, '/settings'), text: visit.messages.layout.menuEntries.settings },
];

function shownForm(
  visit: ShopVisit,
  { leftOut = [] }: SectionPage,
  request: PageRequest,
  {
    refused,
    choices = {},
  }: { refused: Refused | undefined; choices: Readonly<Record<string, readonly Choice[]>> | undefined },
): ShownForm {
  const { settings, language } = visit;
  const messages = settingsMessages(visit.messages, language);
  const file = { ...settingsAsFile(settings, { textsByLocale: true }), ...refused?.file };
  const { defaultLocale, locales, defaultCurrency } = settings;
  const known = settingChoices(file, messages);
  return {
    file,
    context: {
      messages,
      language,
      locales: [defaultLocale, ...locales.filter((locale) => locale !== defaultLocale)],
      locale: visit.locale,
      currency: file.currencies?.default ?? defaultCurrency,
      isDisabled: !visit.may('settings_write'),
      choices: (path) => choices[path] ?? known(path),
      presets: settingPresets(messages),
      keys: settingKeys(file, messages, visit.locale),
      problemAt: problemFinder(refused?.problems ?? []),
      isLeftOut: (path) => leftOut.includes(path),
      added: request.query('add'),
    },
  };
}

/** By the path of the field; a path that ends with `*` matches anything below it. */
function problemFinder(problems: readonly Problem[]): (path: Path) => string | undefined {
  const texts = new Map<string, string>();
  for (const { path, text } of problems) {
    const name = settingFieldName(path);
    texts.set(name, [texts.get(name), sentence(text)].filter(Boolean).join(' '));
  }
  return (path) => {
    const name = settingFieldName(path);
    if (!name.endsWith('.*')) return texts.get(name);
    return [...texts.keys()].some((key) => `${key}.`.startsWith(name.slice(0, -1))) ? name : undefined;
  };
}

/** All problems at the top, each with a link to its field. */
function problemSummary({ problems, lines }: Refused, messages: SettingsMessages): Markup {
  return html`<div class="problem" role="alert">
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
      ${problems.map(
        ({ path, text }) =>
          html`<li><a href="#field-${settingFieldName(path)}">${placeText(path, messages)}</a>: ${text}</li>`,
      )}
    </ul>
  </div>`;
}

/** `Shipping methods 2 › Price` */
export function placeText(path: Path, messages: SettingsMessages): string {
  const steps = path.flatMap((step, index) => {
    if (typeof step === 'number') return [];
    const next = path[index + 1];
    const label = messages.label(wordPath(path.slice(0, index + 1)));
    return [typeof next === 'number' ? `${label} ${next + 1}` : label];
  });
  return steps.join(' › ');
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Consecutive plain settings share a card; a section or a list has its own. */
function cards({ name }: SectionPage, { file, context }: ShownForm): Markup[] {
  const isPlain = (section: SectionName) =>
    !['section', 'entries', 'map'].includes(kindOf(schemaOf(section)));
  const groups: SectionName[][] = [];
  for (const section of sectionsOf(name)) {
    const last = groups.at(-1);
    if (last && isPlain(section) && isPlain(last[0]!)) last.push(section);
    else groups.push([section]);
  }
  const field = (section: SectionName) => settingField(schemaOf(section), file[section], [section], context);
  return groups.flatMap((group) => {
    const [section] = group as [SectionName];
    if (context.isLeftOut(section)) return [];
    if (isPlain(section)) return [html`<div class="card">${group.map(field)}</div>`];
    const hint = kindOf(schemaOf(section)) === 'section' ? context.messages.hint(section) : undefined;
    return [
      html`<section class="card" id="section-${section}">
        <h2>${context.messages.label(section)}</h2>
        ${hint !== undefined && html`<p class="hint">${hint}</p>`} ${field(section)}
      </section>`,
    ];
  });
}
