-- The words of pages and posts, for the search of the shop, and what its results show of each.
alter table page_text add column search_words tsvector not null default '';

alter table page_text add column excerpt text not null default '';

alter table page_text add constraint page_text_excerpt check (length(excerpt) <= 300);

-- Pages that are there already are found by their words as they are written; in any form when they are saved again.
update page_text set
  search_words = setweight(to_tsvector('simple', coalesce(title, '')), 'A') || to_tsvector('simple', left((
    select coalesce(string_agg(regexp_replace(found #>> '{}', '<[^>]*>', ' ', 'g'), ' '), '')
    from jsonb_path_query(blocks, '$.**.*') as found
    where jsonb_typeof(found) = 'string'
  ), 10000)),
  excerpt = left(coalesce(description, summary, ''), 300)
where slug is not null;
