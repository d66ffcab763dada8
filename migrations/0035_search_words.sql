-- Search in a large shop.

-- Shop and locale are one key: as two, each of them has an entry for every row of the shop or of the locale, and a search
-- goes through both. Statements of an older version, which may still run, use the other column alone.
create index listing_scoped_words on listing using gin ((shop_id || ' ' || locale), words);

create index listing_scoped_text on listing using gin ((shop_id || ' ' || locale), text gin_trgm_ops);

create index listing_scoped_facets on listing using gin ((shop_id || ' ' || locale), facets);

drop index listing_words;

drop index listing_text;

drop index listing_facets;

-- The words of the products of a shop, each once, so that a typing error is corrected by a look at the words that
-- resemble it, however many products there are. A word stays when the last product that has it
-- goes: it is then looked for and found nowhere. The collation compares bytes, so that a beginning is a range.
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
