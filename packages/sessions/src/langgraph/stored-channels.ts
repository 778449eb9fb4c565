/**
 * Drops redundant channel values. A graph names the channels that a step changed; any other channel has the value that the thread stores
 * for its version. LangGraph's savers store no value for a version that no step provided, and neither does this one.
 */
import type { ChannelVersions } from "@langchain/langgraph-checkpoint"
import type { Leaf, MapNode, Node } from "./nodes.ts"
import type { CheckpointDraft, Segment } from "./segment.ts"

/** The draft without values of unchanged channels that the thread does not have. */
export function withStoredChannels(
  segment: Segment,
  draft: CheckpointDraft,
  newVersions: ChannelVersions,
): CheckpointDraft {
  const missing = missingChannels(segment, draft, newVersions)
  if (missing.size === 0) return draft
  const fields = [...channelsOf(draft.state)!.values.fields].filter(([channel]) => !missing.has(channel))
  return { ...draft, state: withValues(draft.state, { kind: "map", fields: new Map(fields) }) }
}

function missingChannels(
  segment: Segment,
  { ns, state }: CheckpointDraft,
  newVersions: ChannelVersions,
): ReadonlyMap<string, Leaf> {
  const channels = channelsOf(state)
  const missing = new Map<string, Leaf>()
  for (const channel of channels?.values.fields.keys() ?? []) {
    const version = channels?.versions.fields.get(channel)
    // without a version, the channel may have changed
    if (!Object.hasOwn(newVersions, channel) && isPiece(version)) missing.set(channel, version)
  }
  if (missing.size === 0) return missing
  const head = segment.headOf(ns)
  if (head) removeStored(missing, head)
  if (missing.size === 0) return missing
  // an earlier segment may have the value, and the graph's own copy is correct: it is stored without a search
  if (segment.number > 0 || segment.isHeadless) return new Map()
  // a copy of an older checkpoint has versions that the last one no longer has
  for (const { state: earlier } of segment.replay(ns)) {
    if (!earlier) return new Map() // a line was lost, and the value may have been in it
    removeStored(missing, earlier)
  }
  return missing
}

function removeStored(missing: Map<string, Leaf>, state: Node): void {
  const stored = channelsOf(state)
  for (const [channel, version] of missing) {
    const known = stored?.versions.fields.get(channel)
    if (stored?.values.fields.has(channel) && isPiece(known) && known.equals(version)) missing.delete(channel)
  }
}

interface Channels {
  readonly values: MapNode
  readonly versions: MapNode
}

function channelsOf(state: Node): Channels | undefined {
  const checkpoint = mapIn(state, "checkpoint")
  const values = checkpoint && mapIn(checkpoint, "channel_values")
  const versions = checkpoint && mapIn(checkpoint, "channel_versions")
  return values && versions && { values, versions }
}

function withValues(state: Node, values: MapNode): Node {
  const checkpoint = mapIn(state, "checkpoint")!
  const replaced: MapNode = { kind: "map", fields: new Map(checkpoint.fields).set("channel_values", values) }
  return { kind: "map", fields: new Map((state as MapNode).fields).set("checkpoint", replaced) }
}

function mapIn(node: Node, name: string): MapNode | undefined {
  if (!("kind" in node) || node.kind !== "map") return undefined
  const field = node.fields.get(name)
  return field !== undefined && "kind" in field && field.kind === "map" ? field : undefined
}

const isPiece = (node: Node | undefined): node is Leaf => node !== undefined && !("kind" in node)
