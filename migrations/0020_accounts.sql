-- Accounts of shoppers (src/people/accounts/). Nobody has a password: whoever reads the emails to an address signs in
-- with it. An account belongs to the address, not to a customer, because the address is what was confirmed: customers and
-- orders are found by it.

create table account (
  shop_id text not null,
  account_id uuid not null,
  -- In lower case.
  email text not null,
  created_at timestamptz not null,
  -- The cart that all devices of the account share. It may have become an order or have expired, so nothing refers to it.
  cart_id uuid,
  constraint account_pkey primary key (shop_id, account_id),
  constraint account_email unique (shop_id, email),
  constraint account_email_length check (length(email) between 3 and 254)
);

alter table account add constraint account_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Somebody asked for the email that signs in. Its link and its digits are computed from the id and the key of the
-- installation, so a copy of this table signs nobody in. A request that was used is deleted.
create table sign_in_request (
  shop_id text not null,
  request_id uuid not null,
  email text not null,
  created_at timestamptz not null,
  -- How often digits were typed.
  attempts integer not null default 0,
  constraint sign_in_request_pkey primary key (shop_id, request_id),
  constraint sign_in_request_attempts check (attempts between 0 and 5)
);

alter table sign_in_request add constraint sign_in_request_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;

-- Emails to an address are limited.
create index sign_in_request_email on sign_in_request (shop_id, email, created_at);

-- The clean-up finds old requests of all shops by it.
create index sign_in_request_created on sign_in_request (created_at);

-- A browser that is signed in. Its cookie holds a secret, this table the hash of it.
create table account_session (
  shop_id text not null,
  session_id uuid not null,
  account_id uuid not null,
  token_hash bytea not null,
  created_at timestamptz not null,
  -- When an account page was opened with it last, to some minutes.
  seen_at timestamptz not null,
  -- "Firefox" and "Windows"; null: the browser does not say.
  browser text,
  system text,
  constraint account_session_pkey primary key (shop_id, session_id),
  constraint account_session_token unique (shop_id, token_hash)
);

alter table account_session add constraint account_session_account foreign key (shop_id, account_id)
  references account (shop_id, account_id) on delete cascade;

create index account_session_of_account on account_session (shop_id, account_id, created_at);

create index account_session_created on account_session (created_at);

-- The address book.
create table account_address (
  shop_id text not null,
  address_id uuid not null,
  account_id uuid not null,
  -- As in customer.billing_address: all keys in their order.
  address json not null,
  created_at timestamptz not null,
  constraint account_address_pkey primary key (shop_id, address_id)
);

alter table account_address add constraint account_address_account foreign key (shop_id, account_id)
  references account (shop_id, account_id) on delete cascade;

create index account_address_of_account on account_address (shop_id, account_id, created_at);

-- Passkeys: a key pair in the shopper's device. What is stored here can check a signature and not make one.
create table account_passkey (
  shop_id text not null,
  -- Chosen by the device: base64url.
  credential_id text not null,
  account_id uuid not null,
  public_key bytea not null,
  -- Moves with every use, unless the device does not count.
  counter bigint not null,
  transports text[] not null,
  -- "Firefox" and "Windows" of the browser that made it.
  browser text,
  system text,
  created_at timestamptz not null,
  used_at timestamptz,
  constraint account_passkey_pkey primary key (shop_id, credential_id),
  constraint account_passkey_credential check (length(credential_id) between 16 and 1400)
);

alter table account_passkey add constraint account_passkey_account foreign key (shop_id, account_id)
  references account (shop_id, account_id) on delete cascade;

create index account_passkey_of_account on account_passkey (shop_id, account_id, created_at);
