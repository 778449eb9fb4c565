-- Journals. A line is kept as it is, under the offset that it has in a file: the journal's size is its counter, and what is sent twice is
-- recognised by its bytes. The row of a journal is updated with each append and has no index on what changes.

create table strata.journal (
  tenant text not null,
  jid bigint generated always as identity,
  project text collate "C" not null,
  under text collate "C" not null,
  id text collate "C" not null,
  bytes bigint not null default 0,
  boundary bigint not null default 0, -- where the tail begins
  touched timestamptz not null default clock_timestamp(),
  -- larger than that of a journal that was here before and was erased
  fence bigint not null default (extract(epoch from clock_timestamp()) * 1000)::bigint,
  holder uuid,
  call uuid,
  since timestamptz,
  primary key (tenant, jid),
  unique (tenant, project, under, id)
) with (fillfactor = 70);

create table strata.line (
  tenant text not null,
  jid bigint not null,
  at bigint not null,
  is_boundary boolean not null,
  key bytea, -- of the uuid. Nothing: the line cannot be read
  line bytea not null,
  primary key (tenant, jid, at)
);
create index line_handle on strata.line (tenant, jid, (substring(key from 12 for 5)));
create index line_boundary on strata.line (tenant, jid, at) where is_boundary;

-- beside the journal's row, so that it stays small
create table strata.listing (
  tenant text not null,
  jid bigint not null,
  facts text,
  first_words text,
  primary key (tenant, jid)
);

create table strata.checkpoint (
  tenant text not null,
  jid bigint not null,
  value bytea not null,
  primary key (tenant, jid)
);

create table strata.notes (
  tenant text not null,
  jid bigint not null,
  text bytea not null,
  primary key (tenant, jid)
);

create table strata.blob (
  tenant text not null,
  jid bigint not null,
  name text collate "C" not null,
  data bytea not null,
  primary key (tenant, jid, name)
);

create table strata.in_flight (
  tenant text not null,
  jid bigint not null,
  id text not null,
  request text not null,
  primary key (tenant, jid, id)
);

do $$
declare v_table text;
begin
  foreach v_table in array array['journal', 'line', 'listing', 'checkpoint', 'notes', 'blob', 'in_flight'] loop
    perform strata.isolate(('strata.' || v_table)::regclass);
  end loop;
  perform strata.compress('strata.line', 'line');
  perform strata.compress('strata.blob', 'data');
  perform strata.compress('strata.checkpoint', 'value');
end $$;

-- Opens a journal, with what a resume needs. For a writer it takes the journal's lease.
create function strata.open(
  p_tenant text, p_project text, p_under text, p_id text, p_writes boolean, p_creates boolean, p_resumes boolean, p_most bigint,
  p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_call uuid,
  out state text, out number bigint, out journal_id bigint, out size bigint, out tail_at bigint, out took_over boolean,
  out lines bytea, out kept bytea, out sent text, out words text,
  out other_holder uuid, out other_pid integer, out other_host text, out other_since float8)
language plpgsql as $$
declare
  v_journal strata.journal;
begin
  perform set_config('strata.tenant', p_tenant, true);
  state := 'opened';
  if p_creates and p_writes then
    insert into strata.journal (tenant, project, under, id, call) values (p_tenant, p_project, p_under, p_id, p_call)
      on conflict (tenant, project, under, id) do nothing;
    if found then state := 'created'; end if;
  end if;
  if p_writes then
    select * into v_journal from strata.journal j
      where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id for update;
    perform strata.hold(p_tenant, p_holder, p_pid, p_host, p_seconds);
  else
    select * into v_journal from strata.journal j
      where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id;
  end if;
  if v_journal.jid is null then
    state := 'absent';
    return;
  end if;
  journal_id := v_journal.jid; size := v_journal.bytes; tail_at := v_journal.boundary;
  if p_writes then
    if v_journal.holder = p_holder and v_journal.call = p_call then
      number := v_journal.fence; -- the answer was lost. The update makes sure that a standby has it
      update strata.journal j set since = j.since where j.tenant = p_tenant and j.jid = v_journal.jid;
      if v_journal.bytes = 0 then state := 'created'; end if;
    elsif strata.was_done(p_tenant, p_call) then -- it was opened and closed, and this try comes late: no one waits for it
      state := 'absent';
      return;
    elsif strata.is_alive(p_tenant, v_journal.holder) then
      state := 'held'; number := v_journal.fence;
      other_holder := v_journal.holder; other_since := extract(epoch from v_journal.since) * 1000;
      select h.pid, h.host into other_pid, other_host from strata.holder h where h.tenant = p_tenant and h.id = v_journal.holder;
      return;
    else
      took_over := v_journal.holder is not null;
      update strata.journal j set fence = j.fence + 1, holder = p_holder, call = p_call, since = clock_timestamp()
        where j.tenant = p_tenant and j.jid = v_journal.jid returning j.fence into number;
    end if;
    select l.first_words into words from strata.listing l where l.tenant = p_tenant and l.jid = v_journal.jid;
    select json_agg(f.request)::text into sent from strata.in_flight f where f.tenant = p_tenant and f.jid = v_journal.jid;
  end if;
  if p_resumes then
    lines := strata.bytes_between(p_tenant, v_journal.jid, tail_at, least(size, tail_at + p_most));
    select c.value into kept from strata.checkpoint c where c.tenant = p_tenant and c.jid = v_journal.jid;
  end if;
end $$;

-- The lines that begin in a stretch, in one value.
create function strata.bytes_between(p_tenant text, p_jid bigint, p_from bigint, p_to bigint) returns bytea
language sql stable as $$
  select string_agg(l.line, ''::bytea order by l.at) from strata.line l
    where l.tenant = p_tenant and l.jid = p_jid and l.at >= p_from and l.at < p_to
$$;

create function strata.read(p_tenant text, p_jid bigint, p_from bigint, p_to bigint) returns bytea
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return strata.bytes_between(p_tenant, p_jid, p_from, p_to);
end $$;

-- For the number of a line that is damaged.
create function strata.lines_before(p_tenant text, p_jid bigint, p_at bigint) returns bigint
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select count(*) from strata.line l where l.tenant = p_tenant and l.jid = p_jid and l.at < p_at);
end $$;

-- The lines before a place, back to a boundary: at most so many bytes of them, from the first. Without a place: the tail.
create function strata.segment(p_tenant text, p_jid bigint, p_end bigint, p_most bigint, out first bigint, out past bigint, out lines bytea, out kept bytea)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  if p_end is null then
    select j.boundary, j.bytes into first, past from strata.journal j where j.tenant = p_tenant and j.jid = p_jid;
    select c.value into kept from strata.checkpoint c where c.tenant = p_tenant and c.jid = p_jid;
  else
    past := p_end;
    select coalesce(max(l.at), 0) into first from strata.line l
      where l.tenant = p_tenant and l.jid = p_jid and l.is_boundary and l.at < p_end;
  end if;
  lines := strata.bytes_between(p_tenant, p_jid, first, least(past, first + p_most));
end $$;

-- Adds lines at the end that the writer knows. All of them or none.
create function strata.append(
  p_tenant text, p_jid bigint, p_holder uuid, p_fence bigint, p_at bigint, p_lines bytea, p_lengths integer[], p_keys bytea, p_boundary integer[],
  p_facts text, p_words text, p_waits boolean)
returns text language plpgsql as $$
declare
  v_journal strata.journal;
  v_boundary bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  if not p_waits then perform set_config('synchronous_commit', 'off', true); end if;
  update strata.journal j set bytes = p_at + length(p_lines), touched = greatest(clock_timestamp(), j.touched)
    where j.tenant = p_tenant and j.jid = p_jid and j.holder = p_holder and j.fence = p_fence and j.bytes = p_at;
  if not found then
    select * into v_journal from strata.journal j where j.tenant = p_tenant and j.jid = p_jid for update;
    if v_journal.jid is null or v_journal.holder is distinct from p_holder or v_journal.fence <> p_fence then return 'lost'; end if;
    if v_journal.bytes <> p_at + length(p_lines)
      or strata.bytes_between(p_tenant, p_jid, p_at, v_journal.bytes) is distinct from p_lines then return 'grown'; end if;
    -- they were written, and the answer was lost. This write makes sure that a standby has them too
    update strata.journal j set touched = clock_timestamp() where j.tenant = p_tenant and j.jid = p_jid;
    return 'there';
  end if;
  insert into strata.line (tenant, jid, at, is_boundary, key, line)
  select p_tenant, p_jid, p_at + part.start, part.n = any (p_boundary), substring(p_keys from (part.n::integer - 1) * 16 + 1 for 16),
         substring(p_lines from part.start::integer + 1 for part.length)
  from (select n, length, sum(length) over (order by n) - length as start from unnest(p_lengths) with ordinality as u (length, n)) as part;
  if cardinality(p_boundary) > 0 then
    update strata.journal j set boundary = (
      select max(l.at) from strata.line l where l.tenant = p_tenant and l.jid = p_jid and l.is_boundary and l.at >= p_at)
    where j.tenant = p_tenant and j.jid = p_jid;
  end if;
  if p_facts is not null or p_words is not null then
    insert into strata.listing as l (tenant, jid, facts, first_words) values (p_tenant, p_jid, p_facts, p_words)
      on conflict (tenant, jid) do update
        set facts = coalesce(excluded.facts, l.facts), first_words = coalesce(l.first_words, excluded.first_words);
  end if;
  return 'written';
end $$;

-- Whether the process is still the writer. It waits for the disk, so what was written before is durable too.
create function strata.flush(p_tenant text, p_jid bigint, p_holder uuid, p_fence bigint) returns boolean
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.journal j set holder = p_holder
    where j.tenant = p_tenant and j.jid = p_jid and j.holder = p_holder and j.fence = p_fence;
  return found;
end $$;

create function strata.close(p_tenant text, p_jid bigint, p_holder uuid, p_fence bigint) returns boolean
language plpgsql as $$
declare
  v_call uuid;
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.journal j set holder = null
    where j.tenant = p_tenant and j.jid = p_jid and j.holder = p_holder and j.fence = p_fence returning j.call into v_call;
  if v_call is null then return false; end if;
  perform strata.begin_call(p_tenant, v_call); -- a try to open it that comes late takes nothing
  return true;
end $$;

-- The lines with these keys. The index has the digits of handles, which are the end of a key.
create function strata.find(p_tenant text, p_jid bigint, p_keys bytea[]) returns table (at bigint, line bytea)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select l.at, l.line from unnest(p_keys) as wanted (key)
    join strata.line l on l.tenant = p_tenant and l.jid = p_jid
      and substring(l.key from 12 for 5) = substring(wanted.key from 12 for 5) and l.key = wanted.key
    order by l.at;
end $$;

create function strata.find_handle(p_tenant text, p_jid bigint, p_handle bytea) returns table (at bigint, line bytea)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select l.at, l.line from strata.line l
    where l.tenant = p_tenant and l.jid = p_jid and substring(l.key from 12 for 5) = p_handle order by l.at desc;
end $$;

-- Where a stretch begins and ends, with so many lines around it. Nothing: an end is not there.
create function strata.stretch(p_tenant text, p_jid bigint, p_first bytea, p_last bytea, p_around integer, out first bigint, out past bigint)
language plpgsql as $$
declare
  v_last bigint;
  v_size bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  select j.bytes into v_size from strata.journal j where j.tenant = p_tenant and j.jid = p_jid;
  select max(l.at) into first from strata.line l where l.tenant = p_tenant and l.jid = p_jid
    and substring(l.key from 12 for 5) = substring(p_first from 12 for 5) and l.key = p_first;
  if p_last is null then
    v_last := v_size;
  else
    select max(l.at) into v_last from strata.line l where l.tenant = p_tenant and l.jid = p_jid
      and substring(l.key from 12 for 5) = substring(p_last from 12 for 5) and l.key = p_last;
  end if;
  if first is null or v_last is null then
    first := null;
    return;
  end if;
  if v_last < first then select v_last, first into first, v_last; end if;
  if p_around > 0 then
    first := coalesce((select min(b.at) from (select l.at from strata.line l
      where l.tenant = p_tenant and l.jid = p_jid and l.at < first order by l.at desc limit p_around) as b), first);
    v_last := coalesce((select max(b.at) from (select l.at from strata.line l
      where l.tenant = p_tenant and l.jid = p_jid and l.at > v_last order by l.at limit p_around) as b), v_last);
  end if;
  past := least(v_size, v_last + 1);
end $$;

create function strata.checkpoint_read(p_tenant text, p_jid bigint) returns bytea language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select c.value from strata.checkpoint c where c.tenant = p_tenant and c.jid = p_jid);
end $$;

-- Locks the journal, so that no other writer comes between. False: another is the writer.
create function strata.is_writer(p_tenant text, p_jid bigint, p_holder uuid, p_fence bigint) returns boolean language plpgsql as $$
begin
  perform from strata.journal j
    where j.tenant = p_tenant and j.jid = p_jid and j.holder = p_holder and j.fence = p_fence for no key update;
  return found;
end $$;

create function strata.checkpoint_write(p_tenant text, p_jid bigint, p_holder uuid, p_fence bigint, p_value bytea) returns boolean
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform set_config('synchronous_commit', 'off', true); -- it can be worked out again
  if not strata.is_writer(p_tenant, p_jid, p_holder, p_fence) then return false; end if;
  insert into strata.checkpoint (tenant, jid, value) values (p_tenant, p_jid, p_value)
    on conflict (tenant, jid) do update set value = excluded.value;
  return true;
end $$;

create function strata.notes_read(p_tenant text, p_jid bigint) returns bytea language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select n.text from strata.notes n where n.tenant = p_tenant and n.jid = p_jid);
end $$;

-- p_any: whatever is there. Otherwise p_expected must be, or nothing.
create function strata.notes_write(
  p_tenant text, p_call uuid, p_jid bigint, p_holder uuid, p_fence bigint, p_text bytea, p_any boolean, p_expected bytea)
returns text language plpgsql as $$
declare
  v_text bytea;
begin
  perform set_config('strata.tenant', p_tenant, true);
  if not strata.is_writer(p_tenant, p_jid, p_holder, p_fence) then return 'lost'; end if;
  if strata.was_done(p_tenant, p_call) then return 'written'; end if;
  if not p_any then
    select n.text into v_text from strata.notes n where n.tenant = p_tenant and n.jid = p_jid;
    if v_text is distinct from p_expected then return 'changed'; end if;
  end if;
  perform strata.note_done(p_tenant, p_call);
  insert into strata.notes (tenant, jid, text) values (p_tenant, p_jid, p_text)
    on conflict (tenant, jid) do update set text = excluded.text;
  return 'written';
end $$;

-- A try that arrives late, after another one was made, changes nothing.
create function strata.blob_write(
  p_tenant text, p_call uuid, p_jid bigint, p_holder uuid, p_fence bigint, p_name text, p_data bytea, p_waits boolean)
returns boolean language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  if not p_waits then perform set_config('synchronous_commit', 'off', true); end if;
  if not strata.is_writer(p_tenant, p_jid, p_holder, p_fence) then return false; end if;
  if strata.was_done(p_tenant, p_call) then return true; end if;
  perform strata.note_done(p_tenant, p_call);
  insert into strata.blob (tenant, jid, name, data) values (p_tenant, p_jid, p_name, p_data)
    on conflict (tenant, jid, name) do update set data = excluded.data;
  return true;
end $$;

create function strata.blob_read(p_tenant text, p_jid bigint, p_name text) returns bytea language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return (select b.data from strata.blob b where b.tenant = p_tenant and b.jid = p_jid and b.name = p_name);
end $$;

-- Requests whose cost is not in the journal yet: those that were sent, and the ids of those that are over. Nothing waits for it.
create function strata.in_flight_note(p_tenant text, p_jid bigint, p_ids text[], p_requests text[], p_over text[]) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform set_config('synchronous_commit', 'off', true);
  insert into strata.in_flight (tenant, jid, id, request) select p_tenant, p_jid, u.id, u.request from unnest(p_ids, p_requests) as u (id, request)
    where exists (select from strata.journal j where j.tenant = p_tenant and j.jid = p_jid)
    on conflict (tenant, jid, id) do update set request = excluded.request;
  delete from strata.in_flight f where f.tenant = p_tenant and f.jid = p_jid and f.id = any (p_over);
end $$;

-- The journals of a place. p_since: only those written after it.
create function strata.list(p_tenant text, p_project text, p_under text, p_since float8, p_with_facts boolean)
returns table (id text, bytes bigint, touched float8, facts text, first_words text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select j.id, j.bytes, (extract(epoch from j.touched) * 1000)::float8, l.facts, l.first_words
    from strata.journal j left join strata.listing l on p_with_facts and l.tenant = p_tenant and l.jid = j.jid
    where j.tenant = p_tenant and j.project = p_project and j.under = p_under
      and (p_since is null or j.touched > to_timestamp(p_since / 1000))
    order by j.touched desc, j.jid desc;
end $$;

-- Of these journals those that are there, by their place in the question.
create function strata.sizes(p_tenant text, p_projects text[], p_unders text[], p_ids text[])
returns table (n bigint, jid bigint, bytes bigint, touched float8)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select u.n, j.jid, j.bytes, (extract(epoch from j.touched) * 1000)::float8
    from unnest(p_projects, p_unders, p_ids) with ordinality as u (project, under, id, n)
    join strata.journal j on j.tenant = p_tenant and j.project = u.project and j.under = u.under and j.id = u.id;
end $$;

create function strata.writer(
  p_tenant text, p_project text, p_under text, p_id text,
  out number bigint, out holder_id uuid, out pid integer, out host text, out since float8)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select j.fence, j.holder, h.pid, h.host, extract(epoch from j.since) * 1000 into number, holder_id, pid, host, since
    from strata.journal j join strata.holder h on h.tenant = j.tenant and h.id = j.holder
    where j.tenant = p_tenant and j.project = p_project and j.under = p_under and j.id = p_id and h.until > clock_timestamp();
end $$;

create function strata.projects(p_tenant text) returns table (project text) language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select distinct j.project from strata.journal j where j.tenant = p_tenant and j.under = '' order by j.project;
end $$;
