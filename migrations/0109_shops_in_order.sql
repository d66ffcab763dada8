-- The page of all shops reads the next ones from here, also those in one state and those whose id begins with something.
-- Ids are told apart without upper and lower case, so `C` is the order in which people look for them.
create index shop_in_order on shop (
  (lower(shop_id) collate "C"),
  (case when deletion_at is not null then 'deletionPlanned' when suspended_at is not null then 'suspended'
    when is_open then 'open' else 'notOpen' end)
);
