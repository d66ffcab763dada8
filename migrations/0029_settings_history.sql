-- What the settings of a shop were after each change, so that any of the last hundred states can be restored.
create table settings_version (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  version_id uuid not null,
  -- The email address of a person, or the command; null: a state that was found, made by nobody who was noted.
  author text,
  -- What changed, one line each, as the command line prints it.
  changes jsonb not null,
  -- The settings file after the change. json and not jsonb, because it keeps the order of the keys for people.
  file json not null,
  constraint settings_version_pkey primary key (shop_id, version_id),
  constraint settings_version_author check (length(author) <= 254)
);

alter table settings_version add constraint settings_version_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;
