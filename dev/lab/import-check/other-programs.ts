/** Recordings of the other programs, read from the raw JSON. If a program records totals, these are used, not the sum of its responses. */
import { Bill, type Raw, type RecordedFacts, rawLines, textsIn } from "./recorded.ts"
import { surelyWritten } from "./shell-writes.ts"

export function codex(text: string): RecordedFacts {
  const payloads: readonly Raw[] = rawLines(text).map(({ payload }) => payload ?? {})
  const changed = payloads
    .filter(({ type, success }) => type === "patch_apply_end" && success)
    .flatMap(({ changes }) => Object.keys(changes ?? {}))
  const counts = payloads.filter(({ type, info }) => type === "token_count" && info?.total_token_usage)
  const totals = [...new Set(counts.map(({ info }) => info.total_token_usage.total_tokens))]
  const last = new Map(
    counts.toReversed().map(({ info }) => [info.total_token_usage.total_tokens, info.last_token_usage]),
  )
  // where the total grew by more than the response reported with it, another response was billed
  const more = totals.slice(1).filter((total, at) => total - totals[at] > last.get(total).total_tokens)
  const { input_tokens = 0, cached_input_tokens = 0, output_tokens = 0 } = counts.at(-1)?.info.total_token_usage ?? {}
  const bill = new Bill()
  bill.add("", {
    requests: totals.length + more.length,
    input: input_tokens - cached_input_tokens,
    cacheRead: cached_input_tokens,
    output: output_tokens,
  })
  return {
    userTexts: payloads.flatMap(({ type, message }) => (type === "user_message" && message?.trim() ? [message] : [])),
    changed,
    ...(counts.length > 0 ? { billed: bill.models } : {}),
  }
}

export function pi(text: string): RecordedFacts {
  const messages: readonly Raw[] = rawLines(text).flatMap(({ type, message }) => (type === "message" ? [message] : []))
  const failed = new Set(messages.filter(({ isError }) => isError).map(({ toolCallId }) => toolCallId))
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId))
  const calls: readonly Raw[] = messages
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => content.filter((part: Raw) => part.type === "toolCall"))
    .filter(({ id }: Raw) => answered.has(id) && !failed.has(id))
  const bill = new Bill()
  for (const { role, model, usage } of messages) {
    if (role !== "assistant" || !usage || usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0)
      continue
    bill.add(model, { ...usage, dollars: usage.cost.total })
  }
  return {
    userTexts: messages.flatMap(({ role, content }) =>
      role === "user" ? [textsIn(content).join("\n")].filter((text) => text.trim() !== "") : [],
    ),
    changed: [
      ...calls.filter(({ name }) => name === "write" || name === "edit").map(({ arguments: given }) => given.path),
      ...calls
        .filter(({ name }) => name === "bash")
        .flatMap(({ arguments: given }) => surelyWritten(String(given.command))),
    ],
    billed: bill.models,
  }
}

export function gemini({ messages }: Raw): RecordedFacts {
  const bill = new Bill()
  for (const { type, model, tokens } of messages) {
    if (type !== "gemini" || !tokens) continue
    const { input = 0, cached = 0, output = 0, thoughts = 0, tool = 0 } = tokens
    bill.add(model, { input: input + tool - cached, cacheRead: cached, output: output + thoughts })
  }
  const calls: readonly Raw[] = messages.flatMap(({ toolCalls }: Raw) => toolCalls ?? [])
  return {
    userTexts: messages.flatMap(({ type, content }: Raw) => (type === "user" ? [textsIn(content).join("\n")] : [])),
    changed: calls
      .filter(({ name, status }) => status === "success" && ["write_file", "replace"].includes(name))
      .map(({ args }) => args.file_path),
    billed: bill.models,
  }
}

/** Copilot records its totals in the last event. */
export function copilot(text: string): RecordedFacts {
  const events = rawLines(text)
  const metrics = events.findLast(({ type }) => type === "session.shutdown")?.data?.modelMetrics
  const bill = new Bill()
  for (const [model, { requests, usage }] of Object.entries((metrics ?? {}) as Raw))
    bill.add(model, {
      requests: requests.count,
      input: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
      output: usage.outputTokens,
    })
  return {
    userTexts: events.flatMap(({ type, data }) => (type === "user.message" ? [data.content] : [])),
    changed: [],
    ...(metrics ? { billed: bill.models } : {}),
  }
}

export function openHands({ history, metrics }: Raw): RecordedFacts {
  const events: readonly Raw[] = history
  const edits = events.filter(({ observation, extras }) => observation === "edit" && extras?.path)
  const { prompt_tokens = 0, completion_tokens = 0, cache_read_tokens = 0 } = metrics?.accumulated_token_usage ?? {}
  const bill = new Bill()
  bill.add("", {
    requests: metrics?.token_usages?.length ?? 0,
    input: prompt_tokens - cache_read_tokens,
    cacheRead: cache_read_tokens,
    output: completion_tokens,
  })
  return {
    userTexts: events.flatMap(({ source, action, args }) =>
      source === "user" && action === "message" ? [args.content] : [],
    ),
    changed: edits.map(({ extras }) => extras.path),
    billed: bill.models,
  }
}

/**
 * The task is the only message of the user: it comes before the first answer and is not a demonstration. The changed files are those of the
 * submission.
 */
export function sweAgent({ history, info }: Raw): RecordedFacts {
  const entries: readonly Raw[] = history
  const { api_calls, tokens_sent, tokens_received } = info?.model_stats ?? {}
  const bill = new Bill()
  bill.add("", { requests: api_calls, input: tokens_sent, output: tokens_received })
  const first = entries.findIndex(({ role }) => role === "assistant")
  return {
    userTexts: entries
      .slice(0, first < 0 ? undefined : first)
      .flatMap(({ role, content, is_demo }) => (role === "user" && !is_demo ? [textsIn(content).join("\n")] : [])),
    changed: [...String(info?.submission ?? "").matchAll(/^\+\+\+ b\/(.+?)\s*$/gm)].map(([, path]) => path!),
    ...(info?.model_stats ? { billed: bill.models } : {}),
  }
}
