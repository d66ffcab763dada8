-- Links of one use with which the systems of the host let a person into the admin of a shop: a person who works there,
-- or one of the host by support access. Only the hash of a link is stored.
create table host_link (
  shop_id text not null,
  token_hash bytea not null,
  -- The name of the host's token that made it.
  made_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The person of the shop, and the page that the link leads to.
  user_id uuid,
  target text,
  -- The grant by which a person of the host enters, and the person.
  grant_id uuid,
  name text,
  email text,
  reason text,
  constraint host_link_pkey primary key (shop_id, token_hash),
  constraint host_link_kind check ((user_id is null) <> (grant_id is null)),
  constraint host_link_target check (length(target) <= 4000),
  constraint host_link_person check (
    (grant_id is null) = (name is null) and (grant_id is null) = (email is null) and (grant_id is null) = (reason is null)
    and length(name) <= 100 and length(email) <= 254 and length(reason) <= 500)
);

alter table host_link add constraint host_link_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create index host_link_expires on host_link (expires_at);

-- The panel of the host that opened the session; null: the person signed in here.
alter table admin_session add column signed_in_by text;

alter table admin_session add constraint admin_session_by check (length(signed_in_by) <= 100);
