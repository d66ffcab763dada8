-- Programs that have registered themselves, so that a person can connect them to a shop. They belong to no shop.
create table oauth_client (
  client_id uuid not null,
  name text not null,
  -- Where a browser may take a code. An address is compared as it is, but for the port of a loopback address.
  redirect_addresses text[] not null,
  created_at timestamptz not null,
  -- Soon after the registration, and each connection moves it.
  ends_at timestamptz not null,
  constraint oauth_client_pkey primary key (client_id),
  constraint oauth_client_name check (length(name) between 1 and 80),
  constraint oauth_client_addresses check (cardinality(redirect_addresses) between 1 and 10)
);

create index oauth_client_end on oauth_client (ends_at);

-- The apps of a shop that are assistants, each with the person who has connected it. Their access tokens are in the table
-- of all tokens, as the hash of the token together with what it is for, so none of them opens the API.
create table connected_assistant (
  shop_id text not null,
  app_id uuid not null,
  -- The id of a registered client, or the address of the document in which it describes itself.
  client_id text not null,
  user_id uuid not null,
  connected_at timestamptz not null,
  constraint connected_assistant_pkey primary key (shop_id, app_id),
  constraint connected_assistant_client unique (shop_id, client_id, user_id),
  constraint connected_assistant_client_length check (length(client_id) between 1 and 500)
);

alter table connected_assistant add constraint connected_assistant_app foreign key (shop_id, app_id)
  references app (shop_id, app_id) on delete cascade;

-- Single-use codes of a person's consent, for some minutes. The app begins when the code is exchanged.
create table consent_code (
  shop_id text not null,
  code_hash bytea not null,
  client_id text not null,
  client_name text not null,
  user_id uuid not null,
  redirect_address text not null,
  -- SHA-256 of the verifier that the exchange must show, as the client has sent it.
  challenge text not null,
  scopes text[] not null,
  expires_at timestamptz not null,
  constraint consent_code_pkey primary key (shop_id, code_hash),
  constraint consent_code_lengths check (length(client_id) between 1 and 500 and length(client_name) between 1 and 80
    and length(redirect_address) <= 500 and length(challenge) = 43)
);

create index consent_code_end on consent_code (expires_at);

alter table consent_code add constraint consent_code_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- What renews the access of an assistant. A refresh token has a part that stays and one that changes with each use: the
-- first with an earlier second was used twice, so one of the two who hold it has stolen it.
create table refresh_token (
  shop_id text not null,
  family_hash bytea not null,
  app_id uuid not null,
  secret_hash bytea not null,
  expires_at timestamptz not null,
  constraint refresh_token_pkey primary key (shop_id, family_hash),
  constraint refresh_token_app_once unique (shop_id, app_id)
);

create index refresh_token_end on refresh_token (expires_at);

alter table refresh_token add constraint refresh_token_app foreign key (shop_id, app_id)
  references connected_assistant (shop_id, app_id) on delete cascade;
