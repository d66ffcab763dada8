import type { FormLimits } from '../http/form-fields.ts';
import type { FormRequest, PageRequest, Redirect } from '../http/page-kit.ts';
import type { Upload } from '../http/upload.ts';
import type { Labels } from './components/validation.ts';
import type { AdminMessages } from './messages.ts';
import type { AdminFile, AdminPage } from './page.ts';
import type { Permission } from './users/permissions.ts';
import type { PageAudience, ShopVisit, Visit } from './visit.ts';

/** A form that was sent and refused: its page shows the typed values and their problems. */
export interface Draft {
  field: (name: string) => string;
  fieldList: (name: string) => string[];
  problem: string;
  /** The problems of single fields, by their names in the form or in the body of the operation. */
  problems?: Readonly<Record<string, string>>;
}

/** A form with one file, as a browser sends it without a script. */
export interface FileForm {
  /** The name of the field with the file. */
  field: string;
  /** In bytes, for the whole form; by default the limit of other uploads. */
  limit?: number;
  show: (visit: ShopVisit, request: PageRequest, draft?: Draft) => Promise<AdminPage>;
  /** The file is deleted when this ends. */
  save: (visit: ShopVisit, request: PageRequest, file: Upload) => Promise<Redirect | AdminPage>;
}

export interface Form<V> {
  /** `draft` is the refused form. */
  show: (visit: V, request: PageRequest, draft?: Draft) => Promise<AdminPage>;
  /** A refusal that it throws is shown on the page of the form. */
  save: (visit: V, form: FormRequest) => Promise<Redirect | AdminPage>;
}

export interface Options {
  /**
   * Asks for the password or passkey again unless it was given in the last minutes: for dangerous actions. The page of
   * a form asks too, so that no typed input is lost.
   */
  needsReauthentication?: boolean;
}

export interface FormOptions extends Options {
  /** The limits of a form with more than some hundred short fields. */
  limits?: FormLimits;
  /** The labels by which refusals name the values of the operation. */
  labels?: (messages: AdminMessages) => Labels;
}

/**
 * Registers the pages of a shop: `pages.get('/orders', 'orders_read', ...)` serves `/admin/shops/ID/orders` to users
 * whose role in this shop has the permission. `member`: any role.
 */
export interface ShopPages {
  get(
    path: string,
    permission: Permission | 'member',
    handler: (visit: ShopVisit, request: PageRequest) => Promise<AdminPage | Redirect>,
    options?: Options,
  ): void;

  /**
   * A button, or a form that belongs to another page. A refusal is shown as an error page, so it is for actions that
   * seldom fail. A file is shown in a frame: a preview of the typed input.
   */
  post(
    path: string,
    permission: Permission | 'member',
    handler: (visit: ShopVisit, form: FormRequest) => Promise<Redirect | AdminPage | AdminFile>,
    options?: FormOptions,
  ): void;

  /** A page with a form: GET shows it, POST saves it. Users with read access see it but cannot save. */
  form(
    path: string,
    permissions: { read: Permission | 'member'; write: Permission | 'member' },
    form: Form<ShopVisit>,
    options?: FormOptions,
  ): void;

  /** A page with a form for a file: GET shows it, POST accepts the file. */
  fileForm(path: string, permission: Permission, form: FileForm): void;

  file(
    path: string,
    permission: Permission | 'member',
    handler: (visit: ShopVisit, request: PageRequest) => Promise<AdminFile>,
    options?: Options,
  ): void;

  /** Accepts a form with a file from a script, and responds with a part of the page. The file is deleted after it. */
  upload(
    path: string,
    permission: Permission,
    field: string,
    handler: (visit: ShopVisit, request: PageRequest, file: Upload) => Promise<AdminFile>,
  ): void;
}

/** The pages that belong to no shop: sign-in, the user's own account, the installation. Below `/admin`. */
export interface Pages {
  get<A extends PageAudience>(
    path: string,
    audience: A,
    handler: (visit: Visit<A>, request: PageRequest) => Promise<AdminPage | Redirect>,
    options?: Options,
  ): void;
  post<A extends PageAudience>(
    path: string,
    audience: A,
    handler: (visit: Visit<A>, form: FormRequest) => Promise<Redirect | AdminPage | AdminFile>,
    options?: FormOptions,
  ): void;
  form<A extends PageAudience>(path: string, audience: A, form: Form<Visit<A>>, options?: FormOptions): void;
}
