-- Messages between the agents of a team, in one order. The team's row counts them and is locked first.

create table strata.team (
  tenant text not null,
  tid bigint generated always as identity,
  project text collate "C" not null,
  name text collate "C" not null,
  last bigint not null default 0,
  changes bigint not null default 0, -- of members
  primary key (tenant, tid),
  unique (tenant, project, name)
) with (fillfactor = 70);

create table strata.sender (
  tenant text not null,
  tid bigint not null,
  name text collate "C" not null,
  sequence bigint not null,
  primary key (tenant, tid, name)
) with (fillfactor = 70);

create table strata.message (
  tenant text not null,
  tid bigint not null,
  n bigint not null,
  call uuid not null,
  sender text collate "C" not null,
  sequence bigint not null,
  receivers text[] not null,
  content text not null,
  sent timestamptz not null default clock_timestamp(),
  primary key (tenant, tid, n)
);
create index message_call on strata.message (tenant, tid, call);

create table strata.member (
  tenant text not null,
  tid bigint not null,
  name text collate "C" not null,
  conversation text not null,
  holder uuid,
  seat uuid, -- of this joining: a member that left is not the next one of its name
  cursor bigint,
  idle_at bigint,
  primary key (tenant, tid, name)
) with (fillfactor = 70);

do $$
declare v_table text;
begin
  foreach v_table in array array['team', 'sender', 'message', 'member'] loop
    perform strata.isolate(('strata.' || v_table)::regclass);
  end loop;
end $$;

create function strata.team_open(p_tenant text, p_project text, p_team text) returns bigint language plpgsql as $$
declare
  v_tid bigint;
begin
  perform set_config('strata.tenant', p_tenant, true);
  insert into strata.team (tenant, project, name) values (p_tenant, p_project, p_team) on conflict do nothing;
  select t.tid into v_tid from strata.team t where t.tenant = p_tenant and t.project = p_project and t.name = p_team;
  return v_tid;
end $$;

-- Written once, also if it is sent again because the answer was lost. p_waiting: the most that may wait for one receiver.
create function strata.send(
  p_tenant text, p_tid bigint, p_call uuid, p_from text, p_to text[], p_content text, p_waiting integer, p_channel text,
  out number bigint, out sequence bigint, out full_name text, out full_count bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  select t.last + 1 into number from strata.team t where t.tenant = p_tenant and t.tid = p_tid for update;
  select m.n, m.sequence into number, sequence from strata.message m where m.tenant = p_tenant and m.tid = p_tid and m.call = p_call;
  if found then -- the answer was lost. The update makes sure that a standby has the message
    update strata.team t set last = t.last where t.tenant = p_tenant and t.tid = p_tid;
    return;
  end if;
  select t.last + 1 into number from strata.team t where t.tenant = p_tenant and t.tid = p_tid;
  if p_waiting is not null then
    select w.name, w.waiting into full_name, full_count from (
      select r.name, r.n, (select count(*) from strata.message m where m.tenant = p_tenant and m.tid = p_tid and r.name = any (m.receivers)
          and m.n > coalesce((select e.cursor from strata.member e where e.tenant = p_tenant and e.tid = p_tid and e.name = r.name), 0)) as waiting
      from unnest(p_to) with ordinality as r (name, n)) as w
      where w.waiting >= p_waiting order by w.n limit 1;
    if full_name is not null then return; end if;
  end if;
  insert into strata.sender as s (tenant, tid, name, sequence) values (p_tenant, p_tid, p_from, 1)
    on conflict (tenant, tid, name) do update set sequence = s.sequence + 1 returning s.sequence into sequence;
  insert into strata.message (tenant, tid, n, call, sender, sequence, receivers, content)
    values (p_tenant, p_tid, number, p_call, p_from, sequence, p_to, p_content);
  update strata.team t set last = number where t.tenant = p_tenant and t.tid = p_tid;
  perform pg_notify(p_channel, '');
end $$;

create function strata.last_sent(p_tenant text, p_tid bigint, p_from text) returns bigint language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  return coalesce((select s.sequence from strata.sender s where s.tenant = p_tenant and s.tid = p_tid and s.name = p_from), 0);
end $$;

-- What is after a place, at most so many. p_member has saved that place.
create function strata.messages(p_tenant text, p_tid bigint, p_after bigint, p_member text, p_most integer)
returns table (n bigint, sender text, sequence bigint, receivers text, content text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  if p_member is not null then
    -- never back: one that was paused, and replaced, may come with an old place
    update strata.member e set cursor = p_after
      where e.tenant = p_tenant and e.tid = p_tid and e.name = p_member and (e.cursor is null or e.cursor < p_after);
  end if;
  return query select m.n, m.sender, m.sequence, to_json(m.receivers)::text, m.content from strata.message m
    where m.tenant = p_tenant and m.tid = p_tid and m.n > p_after order by m.n limit p_most;
end $$;

-- What a waiting process compares: the last message, and how often members changed.
create function strata.team_state(p_tenant text, p_tid bigint, out last bigint, out changes bigint) language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select t.last, t.changes into last, changes from strata.team t where t.tenant = p_tenant and t.tid = p_tid;
end $$;

create function strata.member_changed(p_tenant text, p_tid bigint, p_channel text) returns void language plpgsql as $$
begin
  update strata.team t set changes = t.changes + 1 where t.tenant = p_tenant and t.tid = p_tid;
  perform pg_notify(p_channel, '');
end $$;

create function strata.join_team(
  p_tenant text, p_tid bigint, p_name text, p_conversation text, p_holder uuid, p_pid integer, p_host text, p_seconds float8, p_seat uuid, p_channel text,
  out state text, out read_to bigint, out other_pid integer)
language plpgsql as $$
declare
  v_member strata.member;
begin
  perform set_config('strata.tenant', p_tenant, true);
  perform from strata.team t where t.tenant = p_tenant and t.tid = p_tid for update;
  perform strata.hold(p_tenant, p_holder, p_pid, p_host, p_seconds);
  select * into v_member from strata.member e where e.tenant = p_tenant and e.tid = p_tid and e.name = p_name;
  read_to := v_member.cursor;
  if v_member.seat = p_seat then
    state := 'joined'; -- the answer was lost
    return;
  end if;
  if strata.is_alive(p_tenant, v_member.holder) then
    state := 'taken';
    select h.pid into other_pid from strata.holder h where h.tenant = p_tenant and h.id = v_member.holder;
    return;
  end if;
  insert into strata.member (tenant, tid, name, conversation, holder, seat)
    values (p_tenant, p_tid, p_name, p_conversation, p_holder, p_seat)
    on conflict (tenant, tid, name) do update
      set conversation = excluded.conversation, holder = excluded.holder, seat = excluded.seat, idle_at = null;
  perform strata.member_changed(p_tenant, p_tid, p_channel);
  state := 'joined';
end $$;

create function strata.set_idle(p_tenant text, p_tid bigint, p_name text, p_seat uuid, p_at bigint, p_channel text) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.member e set idle_at = p_at
    where e.tenant = p_tenant and e.tid = p_tid and e.name = p_name and e.seat = p_seat and e.idle_at is distinct from p_at;
  if found then perform strata.member_changed(p_tenant, p_tid, p_channel); end if;
end $$;

create function strata.leave_team(p_tenant text, p_tid bigint, p_name text, p_seat uuid, p_cursor bigint, p_channel text) returns void
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  update strata.member e set cursor = coalesce(p_cursor, e.cursor), holder = null, idle_at = null
    where e.tenant = p_tenant and e.tid = p_tid and e.name = p_name and e.seat = p_seat and e.holder is not null;
  if found then perform strata.member_changed(p_tenant, p_tid, p_channel); end if;
end $$;

create function strata.members(p_tenant text, p_tid bigint) returns table (name text, conversation text, idle_at bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('strata.tenant', p_tenant, true);
  return query select e.name, e.conversation, e.idle_at from strata.member e
    where e.tenant = p_tenant and e.tid = p_tid and strata.is_alive(p_tenant, e.holder) order by e.name;
end $$;
