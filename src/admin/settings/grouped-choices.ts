import { html, type Markup } from '../../http/html.ts';
import type { Choice } from '../components/form.ts';
import type { SettingsMessages } from './settings-messages.ts';

/** Several values that one click selects, such as all countries of the European Union. */
export interface Preset {
  name: string;
  values: readonly string[];
}

interface Boxes {
  name: string;
  label: string;
  chosen: readonly Choice[];
  others: readonly Choice[];
  presets: readonly Preset[];
  isDisabled: boolean;
}

/** Shorter lists are easy to read without groups and a filter. */
const LONG_LIST = 12;

/** The checkboxes of a list: the chosen entries, then the others, which a long list folds away by group. */
export function groupedChoices(boxes: Boxes, messages: SettingsMessages): Markup {
  const { name, label, chosen, others, presets, isDisabled } = boxes;
  const boxOf = ({ value, text }: Choice, isChosen: boolean) =>
    html`<label
      ><input
        type="checkbox"
        name="${name}"
        value="${value}"
        ${isChosen && html`checked`}
        ${isDisabled && html`disabled`}
      />
      ${text}</label
    >`;
  const chosenBoxes = chosen.map((choice) => boxOf(choice, true));
  if (chosen.length + others.length <= LONG_LIST) {
    return html`<div class="ticks">${chosenBoxes}${others.map((choice) => boxOf(choice, false))}</div>`;
  }
  const groups = [...new Set(others.map(({ group }) => group))];
  return html`<div class="choices" data-choices>
    ${!isDisabled && tools(label, presets, messages)}
    ${chosen.length > 0 && html`<div class="ticks">${chosenBoxes}</div>`}
    ${groups.map((group) => {
      const choices = others.filter((choice) => choice.group === group);
      return html`<details>
        <summary>${group ?? label} <span class="quiet">${choices.length}</span></summary>
        <div class="ticks">${choices.map((choice) => boxOf(choice, false))}</div>
      </details>`;
    })}
  </div>`;
}

/** Only with scripts: a filter as one types, and the presets. */
function tools(label: string, presets: readonly Preset[], { choose }: SettingsMessages): Markup {
  return html`<div class="choices-tools with-script">
    <input
      type="search"
      data-filter
      maxlength="100"
      placeholder="${choose.filter}"
      aria-label="${choose.filter}: ${label}"
    />
    ${presets.map(
      ({ name, values }) =>
        html`<button type="button" data-preset="${values.join(' ')}" aria-label="${choose.preset({ name })}">
          ${name}
        </button>`,
    )}
    ${
      presets.length > 0 &&
      html`<button type="button" data-preset="" aria-label="${choose.preset({ name: choose.none })}">
        ${choose.none}
      </button>`
    }
  </div>`;
}
