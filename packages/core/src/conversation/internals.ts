/** Parts of a conversation that the sibling packages use and its users do not need. */
import type { DecisionDraft } from "../journal/entries.ts"
import type { Mailbox } from "../journal/mailbox.ts"
import type { Journal } from "../journal/store.ts"
import { listExchanges, type PlannedRange } from "../layers/fold/plan.ts"
import type { LayerName } from "../layers/layer.ts"
import { type PlannerReport, plannerReport } from "../layers/planner/lifetime.ts"
import type { Flags } from "../settings/flags.ts"
import type { RecallSource } from "../tools/session/recall-source.ts"
import type { Views } from "../views/views.ts"
import { type Conversation, engineOf } from "./conversation.ts"

export interface ConversationInternals {
  /** `ledger()`, `accounting()` and the other methods of the conversation return the same as plain values. */
  readonly views: Views
  /** Flags of this turn. */
  readonly flags: Flags
  /** Source of the Recall tool. */
  readonly past: RecallSource
  /** Path of the journal file, if the store uses files. */
  readonly journalFile: string | undefined
  /** Whether its views are unloaded, after pending calls are done. */
  isAsleep(): Promise<boolean>
  /** Current state of the planner. */
  planner(): PlannerReport
  /** Finished exchanges that can be folded or snipped, oldest first. */
  exchanges(): readonly PlannedRange[]
  /** Layers with running background work. */
  workingLayers(): readonly LayerName[]
  /** Stops the background work of a layer. It starts again when it is due. */
  stopLayer(layer: LayerName): Promise<void>
  /** Records decisions that change no message, so they are not queued behind other calls. */
  note(decisions: readonly DecisionDraft[]): Promise<void>
  /** Opens the journal of a sub-agent for reading. */
  openAgentJournal(agent: string): Promise<Journal>
  /** The mailbox of a team of processes on this project. */
  teamMailbox(team: string): Mailbox
}

export function internalsOf(conversation: Conversation): ConversationInternals {
  const engine = engineOf(conversation)
  const { layers, past, record } = engine
  return {
    get views() {
      return engine.views
    },
    get flags() {
      return engine.flags
    },
    past,
    journalFile: record.journal.file,
    isAsleep: () => engine.inOrder(async () => record.isAsleep),
    planner: () => plannerReport(engine.context(), layers.upcoming.tail),
    exchanges: () => listExchanges(engine.context()),
    workingLayers: () => layers.workingLayers(),
    stopLayer: (layer) => layers.stop(layer),
    note: (decisions) => engine.note(decisions),
    openAgentJournal: (agent) => engine.openAgentJournal(agent),
    teamMailbox: (team) => engine.teamMailbox(team),
  }
}
