/** The frameworks that are tried. One entry each: what is installed, and the programs. */
import { AI_SDK } from "./ai-sdk.ts"
import { ANTHROPIC_SDK } from "./anthropic-sdk.ts"
import type { Framework } from "./framework.ts"
import { LANGCHAIN } from "./langchain.ts"
import { MASTRA } from "./mastra.ts"
import { OPENAI_AGENTS } from "./openai-agents.ts"

export const FRAMEWORKS: readonly Framework[] = [...ANTHROPIC_SDK, ...AI_SDK, LANGCHAIN, MASTRA, OPENAI_AGENTS]
