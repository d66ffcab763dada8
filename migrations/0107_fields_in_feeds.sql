-- The attribute of product feeds that a custom field fills. Anybody can fetch a feed, so the field is public. The
-- attributes are those of FEED_ATTRIBUTES in src/shops/settings/settings.ts.
alter table custom_field add column feed_attribute text;

alter table custom_field add constraint custom_field_feed check (
  feed_attribute is null or (
    feed_attribute in ('material', 'pattern', 'color', 'size', 'gender', 'age_group',
      'custom_label_0', 'custom_label_1', 'custom_label_2', 'custom_label_3', 'custom_label_4')
    and resource in ('product', 'variation') and type in ('text', 'number', 'choice') and readable_by = 'public'));
