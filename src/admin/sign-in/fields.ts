import { Type } from 'typebox';
import { declareForm } from '../components/declared-form.ts';

/** The address of a person who signs in; a text that is no address belongs to nobody. */
export const SIGN_IN = declareForm({ body: Type.Object({ email: Type.String() }) }, ({ signIn }) => ({
  email: { kind: 'email', label: signIn.email, autocomplete: 'username', isRequired: true },
}));

/** The address that a person gives for the first time, or gets an email at. */
export const EMAIL_FORM = declareForm(
  { body: Type.Object({ email: Type.String({ maxLength: 254 }) }) },
  ({ signIn }) => ({
    email: { kind: 'email', label: signIn.email, autocomplete: 'username', isRequired: true },
  }),
);

/** The code of an authenticator app, or a recovery code. */
export const SIGN_IN_CODE = declareForm(
  { body: Type.Object({ code: Type.String({ maxLength: 20 }) }) },
  ({ account }) => ({
    code: { label: account.totpCode, autocomplete: 'one-time-code', isRequired: true },
  }),
);
