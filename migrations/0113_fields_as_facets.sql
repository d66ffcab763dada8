-- A custom field of products that shoppers filter lists and search by. Everybody sees the filters and their values, so the
-- field is public. Its values are in listing.facets as f:<field>:<value>.
alter table custom_field add column is_facet boolean not null default false;

alter table custom_field add constraint custom_field_facet check (
  not is_facet or (resource = 'product' and type in ('text', 'number', 'boolean', 'choice') and readable_by = 'public'));

-- Each change of a product looks for these fields, and most shops have none.
create index custom_field_facets on custom_field (shop_id) where is_facet;
