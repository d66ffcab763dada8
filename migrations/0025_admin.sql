-- People who work in the admin (src/admin/). They belong to the installation and not to a shop, because one person may
-- work in several shops.

create table admin_user (
  user_id uuid not null,
  -- In lower case.
  email text not null,
  -- argon2id with its parameters and salt; null: none was chosen yet.
  password_hash text,
  -- The language of the admin: en, de, fr; null: that of the browser.
  language text,
  -- Runs the installation: may create shops and see what concerns all of them.
  is_host boolean not null default false,
  created_at timestamptz not null,
  constraint admin_user_pkey primary key (user_id),
  constraint admin_user_email unique (email),
  constraint admin_user_email_length check (length(email) between 3 and 254)
);

-- A browser that is signed in. Its cookie holds a secret, this table the hash of it.
create table admin_session (
  session_id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  -- When a page was opened with it last, to some minutes.
  seen_at timestamptz not null,
  -- When the person last showed who it is, with a password or a passkey: what is dangerous asks for it again.
  confirmed_at timestamptz not null,
  -- "Firefox" and "Windows"; null: the browser does not say.
  browser text,
  system text,
  constraint admin_session_pkey primary key (session_id),
  constraint admin_session_token unique (token_hash)
);

alter table admin_session add constraint admin_session_user foreign key (user_id) references admin_user (user_id)
  on delete cascade;

create index admin_session_of_user on admin_session (user_id, created_at);

create index admin_session_created on admin_session (created_at);

-- Who may do what in which shop. Nothing refers to the user, because on a cluster the rows of a shop are elsewhere.
create table shop_user (
  shop_id text not null,
  user_id uuid not null,
  role text not null,
  created_at timestamptz not null,
  constraint shop_user_pkey primary key (shop_id, user_id),
  constraint shop_user_role check (role in ('owner', 'manager', 'catalogue', 'orders', 'accountant'))
);

alter table shop_user add constraint shop_user_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

create index shop_user_of_user on shop_user (user_id);

-- A list with filters, order and columns that somebody has given a name.
create table saved_view (
  shop_id text not null,
  view_id uuid not null,
  user_id uuid not null,
  -- The list that it belongs to: its path.
  list text not null,
  name text not null,
  -- The part of the address behind the question mark.
  query text not null,
  created_at timestamptz not null,
  constraint saved_view_pkey primary key (shop_id, view_id),
  constraint saved_view_name check (length(name) between 1 and 60),
  constraint saved_view_query check (length(query) <= 2000)
);

alter table saved_view add constraint saved_view_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

create index saved_view_of_user on saved_view (shop_id, user_id, list);
