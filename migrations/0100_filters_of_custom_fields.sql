-- Only the lists of these things have filters: a field of another one promised a filter that nothing offers.
update custom_field set is_filter = false where is_filter and resource not in ('product', 'customer', 'order', 'cart');

alter table custom_field drop constraint custom_field_filter;

alter table custom_field add constraint custom_field_filter check (
  not is_filter or (type in ('text', 'number', 'boolean', 'date', 'choice')
    and resource in ('product', 'customer', 'order', 'cart')));
