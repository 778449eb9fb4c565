/** Search in what people and the assistant said in a project's past conversations. Each search first reads what is new in the journals. */
import { join } from "node:path"
import { projectDirectory } from "../journal/file/layout.ts"
import { FollowedJournals, removeDatabase } from "./followed-journals.ts"
import { type JournalPassage, passagesOf } from "./journal-passages.ts"
import type { Found, Question } from "./ranking.ts"
import { TextIndex } from "./text-index.ts"

const INDEX_NAME = "recall.sqlite"

export interface JournalIndexOptions {
  readonly root: string
  readonly project: string
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
}

export interface FoundInConversation {
  readonly conversation: string
  readonly message: string
  readonly speaker: "user" | "assistant"
  readonly time: string
  /** The message, or the part of a long one that fits. */
  readonly text: string
  readonly score: number
  readonly coverage: number
  readonly words: readonly string[]
}

export class JournalIndex {
  readonly #journals: FollowedJournals<JournalPassage, TextIndex>

  constructor({ root, project, mask = (text) => text }: JournalIndexOptions) {
    this.#journals = new FollowedJournals({
      directory: projectDirectory(root, project),
      name: INDEX_NAME,
      open: (path) => new TextIndex(path),
      reader: () => ({ take: (entry) => passagesOf(entry, mask) }),
    })
  }

  /** The messages that answer a question, the best first. None where nothing fits. */
  async search(question: Question): Promise<readonly FoundInConversation[]> {
    return (await this.#journals.ask((index) => index.search(question).map(foundInConversation))).answer
  }

  /** Reads what is new. Searching does that too; call it where no one waits. */
  update(): Promise<void> {
    return this.#journals.update()
  }

  close(): void {
    this.#journals.close()
  }
}

function foundInConversation({ passage, score, coverage, words }: Found): FoundInConversation {
  return {
    conversation: passage.source,
    message: passage.address!,
    speaker: passage.speaker === "user" ? "user" : "assistant",
    time: passage.time ?? "",
    text: passage.text,
    score,
    coverage,
    words,
  }
}

/** Removes the index of a project's directory. The next search builds it again from the journals. */
export const removeJournalIndex = ({ root, project }: { readonly root: string; readonly project: string }): void =>
  removeDatabase(join(projectDirectory(root, project), INDEX_NAME))
