-- A log is read in pieces, so that no answer is larger than a client can take.

drop function if exists strata.log_read(text, text, text);

-- Lines with their line ends: those after the line `p_after`, without `p_skip` bytes of them. They begin in the next `p_most` bytes. `last`: the last of them.
create function strata.log_read(
  p_tenant text, p_project text, p_name text, p_after bigint, p_skip bigint, p_most bigint, out lines bytea, out last bigint)
language plpgsql as $$
begin
  perform set_config('strata.tenant', p_tenant, true);
  select string_agg(s.line || decode('0a', 'hex'), ''::bytea order by s.n), max(s.n) into lines, last
    from (select l.n, l.line, sum(length(l.line) + 1) over (order by l.n) - length(l.line) - 1 as at from strata.log_line l
      where l.tenant = p_tenant and l.project = p_project and l.name = p_name and l.n > p_after) s
    where s.at >= p_skip and s.at < p_skip + p_most;
end $$;
