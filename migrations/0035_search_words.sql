-- The words of the products of a shop, each once, so that a typing error is corrected by a look at the words that
-- resemble it, however many products there are.

-- A word stays when the last product that has it goes: it is then looked for and found nowhere. The collation compares
-- bytes, so that a beginning is a range.
create table listing_word (
  shop_id text not null,
  locale text not null,
  -- Lower case, letters and hyphens.
  word text collate "C" not null,
  constraint listing_word_pkey primary key (shop_id, locale, word)
);

-- The words by their ends.
create index listing_word_end on listing_word (shop_id, locale, reverse(word));

alter table listing_word add constraint listing_word_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The rebuild of the lists writes the words of the products that are there already (0021_search.sql).
insert into listing_upgrade (shop_id) select shop_id from shop on conflict (shop_id) do update set rebuild_id = null;
