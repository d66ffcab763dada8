-- Bundles: what a product consists of is among its facts, [{"productId": "0190...", "quantity": 2}]. This index finds the
-- bundles of a part, whose stock follows from its parts; it holds bundles alone, so other products cost nothing.
create index product_parts on product
  using gin (shop_id, (jsonb_path_query_array(facts, '$.parts[*].productId')))
  where facts ? 'parts';
