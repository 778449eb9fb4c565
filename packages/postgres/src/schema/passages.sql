-- Search. A shelf has the passages of a place, and for every token the numbers of the passages that have it. Numbers are given once, under the
-- lock of the shelf's row, so lists only grow at their end. What a token is, and which passages answer a question, the caller decides.
-- Rows are looked up one by one, by laterals with a limit: without statistics the server would rather read a whole table and join it.

create table strata.shelf (
  tenant text not null,
  id bigint generated always as identity,
  project text collate "C" not null,
  under text collate "C" not null,
  conversation text collate "C" not null, -- how its tokens are made, and the one conversation that it is for
  passages integer not null default 0, -- the largest number of a passage, and of a source, that was ever given
  sources integer not null default 0,
  packed integer not null default 0, -- passages up to this number are in packs
  -- larger than that of a shelf that was here before and was erased: who has read that one begins again
  removals bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
  version bigint not null default 0, -- grows with every change
  touched timestamptz, -- when something was last added; null: it is empty
  primary key (tenant, id),
  unique (tenant, project, under, conversation)
) with (fillfactor = 50);

create table strata.shelf_source (
  tenant text not null,
  shelf bigint not null,
  id integer not null,
  name text collate "C" not null,
  mark text not null,
  version bigint not null, -- of the shelf, when the mark was written
  turn integer not null, -- of its last passage, and who speaks in it
  speaking text,
  first integer not null, -- its passages are between these numbers
  last integer not null,
  primary key (tenant, shelf, id),
  unique (tenant, shelf, name)
) with (fillfactor = 70);
create index shelf_source_version on strata.shelf_source (tenant, shelf, version);

create table strata.passage (
  tenant text not null,
  shelf bigint not null,
  id integer not null,
  source integer not null,
  turn integer not null,
  facts integer not null,
  terms integer not null,
  time float8 not null, -- NaN: unknown
  start integer not null,
  length integer not null,
  head bytea not null, -- message, block and label: only read by the caller
  text bytea not null,
  primary key (tenant, shelf, id)
);

-- the facts of many passages in one value, so that a new process reads a large shelf quickly
create table strata.passage_pack (
  tenant text not null,
  shelf bigint not null,
  last integer not null,
  facts bytea not null,
  primary key (tenant, shelf, last)
);

-- The newest part of a token's list is here, and short, because it is written with every new passage. The rest is in strata.posting.
create table strata.token (
  tenant text not null,
  shelf bigint not null,
  token text collate "C" not null,
  documents integer not null,
  first integer not null,
  last integer not null,
  tail bytea not null,
  primary key (tenant, shelf, token)
) with (fillfactor = 75);

create table strata.posting (
  tenant text not null,
  shelf bigint not null,
  token text collate "C" not null,
  first integer not null,
  last integer not null,
  ids bytea not null,
  primary key (tenant, shelf, token, first)
);

do $$
declare v_table text;
begin
  foreach v_table in array array['shelf', 'shelf_source', 'passage', 'passage_pack', 'token', 'posting'] loop
    perform strata.isolate(('strata.' || v_table)::regclass);
  end loop;
  perform strata.compress('strata.passage', 'text');
  perform strata.compress('strata.passage_pack', 'facts');
  -- short lists do not shrink, and to try costs time with every new passage
  alter table strata.token alter column tail set storage external;
  alter table strata.posting alter column ids set storage external;
end $$;

-- What a shelf holds goes. Its row stays, so that a process that reads it notices.
create function strata.shelf_empty(p_tenant text, p_shelf bigint) returns void language plpgsql as $$
begin
  update strata.shelf s set removals = s.removals + 1, version = s.version + 1, packed = s.passages, touched = null
    where s.tenant = p_tenant and s.id = p_shelf;
  delete from strata.shelf_source s where s.tenant = p_tenant and s.shelf = p_shelf;
  delete from strata.passage p where p.tenant = p_tenant and p.shelf = p_shelf;
  delete from strata.passage_pack k where k.tenant = p_tenant and k.shelf = p_shelf;
  delete from strata.token t where t.tenant = p_tenant and t.shelf = p_shelf;
  delete from strata.posting p where p.tenant = p_tenant and p.shelf = p_shelf;
end $$;

-- Empties shelves of the same passages whose tokens an older version of the library made. While that version runs, they grow too: only those go to
-- which nothing was added for a day. The key of a shelf begins with the number of how its tokens are made.
create function strata.empty_older(p_tenant text, p_project text, p_under text, p_only text) returns void language plpgsql as $$
begin
  perform strata.shelf_empty(p_tenant, s.id)
    from generate_series(1, split_part(p_only, '/', 1)::integer - 1) as tokens
    join strata.shelf s on s.tenant = p_tenant and s.project = p_project and s.under = p_under
      and s.conversation = tokens || substring(p_only from position('/' in p_only))
    where s.touched < now() - interval '1 day';
end $$;

-- Adds what is new of several sources. For each step: whether its source was where the step begins. All that a step adds is numbered from
-- one base, which is put in front of each of its lists.
create function strata.shelf_extend(
  p_tenant text, p_project text, p_under text, p_only text,
  p_sources text[], p_from text[], p_to text[], p_counts integer[], p_turns integer[], p_first text[], p_last text[],
  p_step integer[], p_nth integer[], p_turn integer[], p_facts integer[], p_terms integer[], p_times float8[], p_starts integer[],
  p_lengths integer[], p_heads integer[], p_texts integer[], p_bytes bytea,
  p_token_step integer[], p_tokens text[], p_documents integer[], p_ends integer[], p_ids bytea, p_tail integer, p_sealed integer)
returns text language plpgsql as $$
declare
  v_shelf strata.shelf;
  v_source strata.shelf_source;
  v_taken text := '';
  v_next integer;
  v_bases integer[];
  v_ids integer[];
  v_first_turns integer[];
  v_goes_on boolean[];
  v_long text[];
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform set_config('synchronous_commit', 'off', true); -- it can be built again from the journals
  insert into strata.shelf (tenant, project, under, conversation) values (p_tenant, p_project, p_under, p_only) on conflict do nothing;
  select * into v_shelf from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only for update;
  v_next := v_shelf.passages + 1;
  for v_at in 1 .. cardinality(p_sources) loop
    select * into v_source from strata.shelf_source s
      where s.tenant = p_tenant and s.shelf = v_shelf.id and s.name = p_sources[v_at];
    if v_source.mark = p_to[v_at] then
      v_taken := v_taken || '1'; -- it was made before, and the answer was lost
      continue;
    end if;
    if v_source.mark is distinct from p_from[v_at] then
      v_taken := v_taken || '0';
      continue;
    end if;
    v_taken := v_taken || '1';
    v_bases[v_at] := v_next;
    v_first_turns[v_at] := coalesce(v_source.turn, 0);
    v_goes_on[v_at] := coalesce(v_source.speaking = p_first[v_at], false);
    if v_source.id is null then
      v_shelf.sources := v_shelf.sources + 1;
      v_source.id := v_shelf.sources;
      insert into strata.shelf_source (tenant, shelf, id, name, mark, version, turn, speaking, first, last)
      values (p_tenant, v_shelf.id, v_source.id, p_sources[v_at], p_to[v_at], v_shelf.version + 1, 0, null, v_next, 0);
    end if;
    update strata.shelf_source s
      set mark = p_to[v_at], version = v_shelf.version + 1,
        turn = v_first_turns[v_at] + p_turns[v_at] - case when p_turns[v_at] > 0 and v_goes_on[v_at] then 1 else 0 end,
        speaking = coalesce(p_last[v_at], s.speaking), last = v_next + p_counts[v_at] - 1
      where s.tenant = p_tenant and s.shelf = v_shelf.id and s.id = v_source.id;
    v_ids[v_at] := v_source.id;
    v_next := v_next + p_counts[v_at];
  end loop;

  insert into strata.passage (tenant, shelf, id, source, turn, facts, terms, time, start, length, head, text)
  select p_tenant, v_shelf.id, v_bases[u.step] + u.nth, v_ids[u.step],
    v_first_turns[u.step] + u.turn - case when u.turn > 0 and v_goes_on[u.step] then 1 else 0 end,
    u.facts, u.terms, u.time, u.start, u.length, substring(p_bytes from u.past + 1 for u.head), substring(p_bytes from u.past + u.head + 1 for u.text)
  from (
    select given.*, (sum(head + text) over (order by n) - head - text)::integer as past
    from unnest(p_step, p_nth, p_turn, p_facts, p_terms, p_times, p_starts, p_lengths, p_heads, p_texts)
      with ordinality as given (step, nth, turn, facts, terms, time, start, length, head, text, n)
  ) as u
  where v_bases[u.step] is not null;

  -- the same token may come from several steps
  with given as (
    select u.token, sum(u.documents)::integer as documents, min(v_bases[u.step]) as first,
      max(v_bases[u.step] + p_counts[u.step] - 1) as last,
      string_agg(int4send(v_bases[u.step]) || substring(p_ids from u.begins + 1 for u.ends - u.begins), ''::bytea order by u.step) as ids
    from (
      select g.*, coalesce(lag(ends) over (order by n), 0) as begins
      from unnest(p_token_step, p_tokens, p_documents, p_ends) with ordinality as g (step, token, documents, ends, n)
    ) as u
    where v_bases[u.step] is not null
    group by u.token
  ), added as (
    insert into strata.token as t (tenant, shelf, token, documents, first, last, tail)
    select p_tenant, v_shelf.id, g.token, g.documents, g.first, g.last, g.ids from given g order by g.token
    on conflict (tenant, shelf, token) do update set
      documents = t.documents + excluded.documents, last = excluded.last,
      first = case when t.tail = '' then excluded.first else t.first end, tail = t.tail || excluded.tail
    returning t.token, t.tail
  )
  select array_agg(a.token) into v_long from added a where length(a.tail) > p_tail;
  perform strata.shelf_seal(p_tenant, v_shelf.id, v_long, p_sealed);

  update strata.shelf s
    set passages = v_next - 1, sources = v_shelf.sources, version = s.version + 1, touched = now(),
      packed = strata.pack_passages(p_tenant, v_shelf.id, v_shelf.packed, v_next - 1)
    where s.tenant = p_tenant and s.id = v_shelf.id;
  perform strata.empty_older(p_tenant, p_project, p_under, p_only);
  return v_taken;
end $$;

-- Moves the newest parts of these lists to where they are kept: the last row there grows until it is long.
create function strata.shelf_seal(p_tenant text, p_shelf bigint, p_tokens text[], p_sealed integer) returns void
language plpgsql as $$
declare
  v_token strata.token;
  v_last integer;
begin
  for v_at in 1 .. coalesce(cardinality(p_tokens), 0) loop
    select * into v_token from strata.token t where t.tenant = p_tenant and t.shelf = p_shelf and t.token = p_tokens[v_at];
    v_last := (select p.first from strata.posting p
      where p.tenant = p_tenant and p.shelf = p_shelf and p.token = p_tokens[v_at] order by p.first desc limit 1);
    update strata.posting p set ids = p.ids || v_token.tail, last = v_token.last
      where p.tenant = p_tenant and p.shelf = p_shelf and p.token = p_tokens[v_at] and p.first = v_last
        and length(p.ids) + length(v_token.tail) <= p_sealed;
    if not found then
      insert into strata.posting (tenant, shelf, token, first, last, ids)
      values (p_tenant, p_shelf, p_tokens[v_at], v_token.first, v_token.last, v_token.tail);
    end if;
    update strata.token t set tail = '' where t.tenant = p_tenant and t.shelf = p_shelf and t.token = p_tokens[v_at];
  end loop;
end $$;

-- Of the passages in a stretch, in their order: number, source, turn, facts, terms, length, time.
create function strata.passage_facts(p_tenant text, p_shelf bigint, p_after integer, p_to integer) returns bytea
language sql stable as $$
  select string_agg(int4send(p.id) || int4send(p.source) || int4send(p.turn) || int4send(p.facts) || int4send(p.terms) || int4send(p.length)
    || float8send(p.time), ''::bytea order by p.id)
  from strata.passage p where p.tenant = p_tenant and p.shelf = p_shelf and p.id > p_after and p.id <= p_to
$$;

-- Packs whole stretches of numbers. Returns how far it came.
create function strata.pack_passages(p_tenant text, p_shelf bigint, p_packed integer, p_to integer) returns integer
language plpgsql as $$
declare
  v_packed integer := p_packed;
begin
  while p_to - v_packed >= 512 loop
    insert into strata.passage_pack (tenant, shelf, last, facts)
    values (p_tenant, p_shelf, v_packed + 512, coalesce(strata.passage_facts(p_tenant, p_shelf, v_packed, v_packed + 512), ''));
    v_packed := v_packed + 512;
  end loop;
  return v_packed;
end $$;

-- A passage as the caller reads it.
create function strata.passage_bytes(p strata.passage) returns bytea language sql immutable as $$
  select int4send(p.id) || int4send(p.source) || int4send(p.facts) || int4send(p.start) || int4send(p.length) || float8send(p.time)
    || int4send(length(p.head)) || int4send(length(p.text)) || p.head || p.text
$$;

-- The marks that were written after a version of the shelf: all, if something was removed since.
create function strata.shelf_marks(
  p_tenant text, p_project text, p_under text, p_only text, p_version bigint, p_removals bigint,
  out version bigint, out removals bigint, out is_all boolean, out marks text)
language plpgsql stable as $$
declare
  v_shelf strata.shelf;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select * into v_shelf from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only;
  version := coalesce(v_shelf.version, 0);
  removals := coalesce(v_shelf.removals, 0);
  is_all := removals <> p_removals;
  marks := (select json_object_agg(s.name, s.mark)::text from strata.shelf_source s
    where s.tenant = p_tenant and s.shelf = v_shelf.id and s.version > case when is_all then 0 else p_version end);
end $$;

-- What is new, and what a question needs to know of its tokens. Stable: all of it is of one state. To a caller
-- that knows nothing, the packs follow, one in a row: in one value a large shelf would take several times its size, on both sides.
create function strata.shelf_news(
  p_tenant text, p_project text, p_under text, p_only text,
  p_passage integer, p_source integer, p_removals bigint, p_most_rows integer,
  p_tokens text[], p_asked text[], p_most_missed integer, p_most_similar integer,
  out removals bigint, out facts bytea, out sources text, out added bytea, out documents bytea, out beginning text)
returns setof record language plpgsql stable as $$
declare
  v_shelf strata.shelf;
  v_after integer := p_passage;
  v_is_all boolean;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select * into v_shelf from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only;
  removals := coalesce(v_shelf.removals, 0);
  if v_shelf.id is null then
    return next;
    return;
  end if;
  if removals <> p_removals then
    p_passage := 0;
    p_source := 0;
    p_most_rows := 0;
  end if;
  v_is_all := p_passage = 0;
  if v_is_all then
    p_passage := v_shelf.packed;
  end if;
  if p_passage < v_shelf.passages then
    if v_after > 0 and v_shelf.passages - p_passage <= p_most_rows then
      added := (select string_agg(strata.passage_bytes(p), ''::bytea order by p.id) from strata.passage p
        where p.tenant = p_tenant and p.shelf = v_shelf.id and p.id > p_passage);
    end if;
    facts := strata.passage_facts(p_tenant, v_shelf.id, p_passage, v_shelf.passages);
  end if;
  if p_source < v_shelf.sources then
    sources := (select json_object_agg(s.id, s.name)::text from strata.shelf_source s
      where s.tenant = p_tenant and s.shelf = v_shelf.id and s.id > p_source);
  end if;
  documents := (select string_agg(int4send(coalesce((
      select t.documents from strata.token t where t.tenant = p_tenant and t.shelf = v_shelf.id and t.token = u.token limit 1
    ), 0)), ''::bytea order by u.n) from unnest(p_tokens) with ordinality as u (token, n));
  if cardinality(p_asked) > 0 then
    beginning := (select json_object_agg(missed.token, coalesce(similar_to.found, '[]'::json))::text
      from (
        select u.token from unnest(p_asked) with ordinality as u (token, n)
        where (select t.documents from strata.token t
          where t.tenant = p_tenant and t.shelf = v_shelf.id and t.token = u.token limit 1) is null
        order by u.n limit p_most_missed
      ) as missed
      cross join lateral (
        select json_agg(json_build_array(b.token, b.documents) order by b.documents, b.token) as found from (
          select t.token, t.documents from strata.token t
          where t.tenant = p_tenant and t.shelf = v_shelf.id and t.token >= missed.token and t.token < missed.token || '~'
          order by t.documents, t.token limit p_most_similar
        ) as b
      ) as similar_to);
  end if;
  return next;
  if v_is_all then
    return query select null::bigint, k.facts, null::text, null::bytea, null::bytea, null::text from strata.passage_pack k
      where k.tenant = p_tenant and k.shelf = v_shelf.id order by k.last;
  end if;
end $$;

-- The lists of tokens. p_source: what is not near its passages is left out.
create function strata.shelf_lists(p_tenant text, p_project text, p_under text, p_only text, p_tokens text[], p_source integer)
returns table (n bigint, ids bytea) language plpgsql stable as $$
#variable_conflict use_column
declare
  v_shelf bigint;
  v_first integer := 0;
  v_last integer := 2147483647;
begin
  perform set_config('strata.tenant', p_tenant, true);
  v_shelf := (select s.id from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only);
  if p_source is not null then
    select s.first, s.last into v_first, v_last from strata.shelf_source s
      where s.tenant = p_tenant and s.shelf = v_shelf and s.id = p_source;
  end if;
  return query
    select u.n, coalesce(
      (select string_agg(p.ids, ''::bytea order by p.first) from strata.posting p
        where p.tenant = p_tenant and p.shelf = v_shelf and p.token = u.token and p.first <= v_last and p.last >= v_first), '') || t.tail
    from unnest(p_tokens) with ordinality as u (token, n) cross join lateral (
      select k.tail from strata.token k where k.tenant = p_tenant and k.shelf = v_shelf and k.token = u.token limit 1
    ) as t;
end $$;

-- All tokens without an underscore, one in a line.
create function strata.shelf_vocabulary(p_tenant text, p_project text, p_under text, p_only text) returns text
language plpgsql stable as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select string_agg(t.token, E'\n' order by t.token) from strata.shelf s
    join strata.token t on t.tenant = p_tenant and t.shelf = s.id and position('_' in t.token) = 0
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only);
end $$;

create function strata.shelf_rows(p_tenant text, p_project text, p_under text, p_only text, p_ids integer[]) returns bytea
language plpgsql stable as $$
declare
  v_shelf bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  v_shelf := (select s.id from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only);
  return (select string_agg(own.bytes, ''::bytea) from unnest(p_ids) as u (id) cross join lateral (
      select strata.passage_bytes(p) as bytes from strata.passage p
      where p.tenant = p_tenant and p.shelf = v_shelf and p.id = u.id limit 1
    ) as own);
end $$;

-- Those of these passages that have a text, the newest first.
create function strata.shelf_having(p_tenant text, p_project text, p_under text, p_only text, p_ids integer[], p_text bytea, p_most integer)
returns table (id integer) language plpgsql stable as $$
#variable_conflict use_column
declare
  v_shelf bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  v_shelf := (select s.id from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only);
  -- one scan of the index for all of them: there may be thousands
  return query select p.id from strata.passage p
    where p.tenant = p_tenant and p.shelf = v_shelf and p.id = any (p_ids) and position(p_text in p.text) > 0
    order by p.id desc limit p_most;
end $$;

create function strata.shelf_around(p_tenant text, p_project text, p_under text, p_only text, p_ids integer[], p_most integer)
returns table (n bigint, passages bytea) language plpgsql stable as $$
#variable_conflict use_column
declare
  v_shelf bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  v_shelf := (select s.id from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only);
  return query
    select u.n, (select string_agg(strata.passage_bytes(p), ''::bytea order by p.id) from strata.passage p
      where p.tenant = p_tenant and p.shelf = v_shelf and p.source = own.source and p.id between u.id - p_most and u.id + p_most)
    from unnest(p_ids) with ordinality as u (id, n) cross join lateral (
      select p.source from strata.passage p where p.tenant = p_tenant and p.shelf = v_shelf and p.id = u.id limit 1
    ) as own;
end $$;

-- The passages of a source as long as it has this mark: what a removal needs to know.
create function strata.shelf_source_rows(
  p_tenant text, p_project text, p_under text, p_only text, p_name text, p_mark text, p_after integer, p_most integer) returns bytea
language plpgsql stable as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select string_agg(strata.passage_bytes(own.p), ''::bytea order by (own.p).id) from (
    select p from strata.shelf h
      join strata.shelf_source s on s.tenant = p_tenant and s.shelf = h.id and s.name = p_name and s.mark = p_mark
      join strata.passage p on p.tenant = p_tenant and p.shelf = h.id and p.source = s.id
        and p.id between greatest(s.first, p_after + 1) and s.last
    where h.tenant = p_tenant and h.project = p_project and h.under = p_under and h.conversation = p_only
    order by p.id limit p_most
  ) as own);
end $$;

-- Removes a source that has this mark. Its numbers stay in the lists of tokens that others have too, and no one has them any more.
create function strata.shelf_remove(
  p_tenant text, p_project text, p_under text, p_only text, p_name text, p_mark text, p_tokens text[], p_documents integer[]) returns boolean
language plpgsql as $$
declare
  v_shelf strata.shelf;
  v_source strata.shelf_source;
  v_documents integer;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select * into v_shelf from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only for update;
  select * into v_source from strata.shelf_source s
    where s.tenant = p_tenant and s.shelf = v_shelf.id and s.name = p_name and s.mark = p_mark;
  if v_source.id is null then return false; end if;
  delete from strata.passage p where p.tenant = p_tenant and p.shelf = v_shelf.id and p.source = v_source.id
    and p.id between v_source.first and v_source.last;
  delete from strata.shelf_source s where s.tenant = p_tenant and s.shelf = v_shelf.id and s.id = v_source.id;
  update strata.passage_pack k set facts = coalesce(strata.passage_facts(p_tenant, v_shelf.id, k.last - 512, k.last), '')
    where k.tenant = p_tenant and k.shelf = v_shelf.id and k.last >= v_source.first and k.last - 512 < v_source.last;
  for v_at in 1 .. cardinality(p_tokens) loop
    update strata.token t set documents = t.documents - p_documents[v_at]
      where t.tenant = p_tenant and t.shelf = v_shelf.id and t.token = p_tokens[v_at] returning t.documents into v_documents;
    if v_documents <= 0 then
      delete from strata.token t where t.tenant = p_tenant and t.shelf = v_shelf.id and t.token = p_tokens[v_at];
      delete from strata.posting p where p.tenant = p_tenant and p.shelf = v_shelf.id and p.token = p_tokens[v_at];
    end if;
  end loop;
  update strata.shelf s set removals = s.removals + 1, version = s.version + 1 where s.tenant = p_tenant and s.id = v_shelf.id;
  return true;
end $$;

create function strata.shelf_clear(p_tenant text, p_project text, p_under text, p_only text) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform strata.shelf_empty(p_tenant, s.id) from strata.shelf s
    where s.tenant = p_tenant and s.project = p_project and s.under = p_under and s.conversation = p_only;
end $$;

-- Those with passages of journals that are gone.
create function strata.shelves_outdated(p_tenant text) returns table (project text, under text, conversation text)
language plpgsql stable as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select s.project, s.under, s.conversation from strata.shelf s
    where s.tenant = p_tenant and exists (select from strata.shelf_source f where f.tenant = p_tenant and f.shelf = s.id
      and not exists (select from strata.journal j
        where j.tenant = p_tenant and j.project = s.project and j.under = s.under and j.id = f.name))
    order by s.id;
end $$;
