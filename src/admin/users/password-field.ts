import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { AdminMessages } from '../messages.ts';
import { MAX_PASSWORD_LENGTH, passwordProblem, MIN_PASSWORD_LENGTH } from './password.ts';
import type { FormRequest } from '../../http/page-kit.ts';

interface PasswordField {
  name: 'password' | 'newPassword';
  label: string;
  autocomplete: 'current-password' | 'new-password';
}

/** It is typed once: users can show it to check it. */
export function passwordField(
  { signIn: messages }: AdminMessages,
  { name, label, autocomplete }: PasswordField,
): Markup {
  const isNew = autocomplete === 'new-password';
  return html`<div class="field">
    <label for="field-${name}">${label}</label>
    <span class="input password"
      ><input
        type="password"
        name="${name}"
        id="field-${name}"
        autocomplete="${autocomplete}"
        maxlength="${MAX_PASSWORD_LENGTH}"
        required
        ${isNew && html`minlength="${MIN_PASSWORD_LENGTH}" aria-describedby="field-${name}-hint"`}
      /><button
        type="button"
        class="link with-script"
        data-shows="field-${name}"
        data-hide="${messages.hidePassword}"
        aria-controls="field-${name}"
      >
        ${messages.showPassword}
      </button></span
    >
    ${
      isNew &&
      html`<p class="hint" id="field-${name}-hint">
        ${messages.passwordRules({ least: MIN_PASSWORD_LENGTH })}
      </p>`
    }
  </div>`;
}

/** Not trimmed: a password may begin or end with a blank. */
export function typedPassword(form: FormRequest, name: PasswordField['name'] = 'password'): string {
  return form.fieldList(name)[0] ?? '';
}

export async function requireGoodPassword(
  password: string,
  email: string,
  { signIn }: AdminMessages,
): Promise<void> {
  const problem = await passwordProblem(password, email);
  if (problem === undefined) return;
  const texts = {
    short: signIn.passwordShort({ least: MIN_PASSWORD_LENGTH }),
    long: signIn.passwordLong({ most: MAX_PASSWORD_LENGTH }),
    common: signIn.passwordCommon,
    email: signIn.passwordEmail,
  };
  throw badRequest(texts[problem]);
}
