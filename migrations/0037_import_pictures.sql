-- Pictures that a merchant has sent as an archive, until an import of products names them.
create table import_picture (
  shop_id text not null,
  -- Without folders and in lower case: a table that was made on another machine may write it otherwise.
  name text not null,
  content bytea not null,
  created_at timestamptz not null,
  constraint import_picture_pkey primary key (shop_id, name),
  constraint import_picture_name check (length(name) <= 120),
  constraint import_picture_content check (octet_length(content) <= 10485760)
);

alter table import_picture add constraint import_picture_shop foreign key (shop_id) references shop (shop_id)
  on delete cascade;

-- Pictures are compressed already.
alter table import_picture alter column content set storage external;

-- The clean-up looks for old ones over all shops.
create index import_picture_created on import_picture (created_at);
