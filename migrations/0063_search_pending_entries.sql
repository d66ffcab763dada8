-- New entries of a search index wait in a list until there are many, because that is cheaper than sorting each of them
-- in. Every search reads that list, whose shop they may be of: with up to 4 MB, the default, a search after an import
-- took five times as long, until PostgreSQL cleaned up after some minutes. A write costs about a tenth more.
alter index listing_scoped_words set (gin_pending_list_limit = 256);

alter index listing_scoped_text set (gin_pending_list_limit = 256);

alter index listing_scoped_facets set (gin_pending_list_limit = 256);
