-- Signing in to the admin: one-time links, a second factor, passkeys (src/admin/sign-in/, src/admin/account/).

-- null: never; an invitation waits to be accepted.
alter table admin_user add column signed_in_at timestamptz;

-- The secret that an authenticator app shares with us, sealed with the key of the installation; null: no second factor.
alter table admin_user add column totp_sealed bytea;

-- The last half minute whose code was used, counted from 1970, because every code works once.
alter table admin_user add column totp_step bigint;

-- A link that chooses a password, once. What proves it is derived from its id and the key of the installation, so that
-- neither this table nor a waiting email holds anything that signs in.
create table admin_link (
  link_id uuid not null,
  -- null: whoever opens it becomes the first user of the installation.
  user_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint admin_link_pkey primary key (link_id)
);

alter table admin_link add constraint admin_link_user foreign key (user_id) references admin_user (user_id)
  on delete cascade;

create index admin_link_of_user on admin_link (user_id, created_at);

create index admin_link_expires on admin_link (expires_at);

-- Codes for whoever has lost the phone with the authenticator app. Each works once and is deleted then.
create table admin_recovery_code (
  user_id uuid not null,
  code_hash bytea not null,
  constraint admin_recovery_code_pkey primary key (user_id, code_hash)
);

alter table admin_recovery_code add constraint admin_recovery_code_user foreign key (user_id)
  references admin_user (user_id) on delete cascade;

-- Passkeys: what is stored here can check a signature and not make one.
create table admin_passkey (
  -- Chosen by the device: base64url.
  credential_id text not null,
  user_id uuid not null,
  public_key bytea not null,
  -- Moves with every use, unless the device does not count.
  counter bigint not null,
  transports text[] not null,
  -- "Firefox" and "Windows" of the browser that made it.
  browser text,
  system text,
  created_at timestamptz not null,
  used_at timestamptz,
  constraint admin_passkey_pkey primary key (credential_id),
  constraint admin_passkey_credential check (length(credential_id) between 16 and 1400)
);

alter table admin_passkey add constraint admin_passkey_user foreign key (user_id) references admin_user (user_id)
  on delete cascade;

create index admin_passkey_of_user on admin_passkey (user_id, created_at);

-- Whoever runs the installation has closed the shop: its pages and its API answer nobody but the admin.
alter table shop add column suspended_at timestamptz;
