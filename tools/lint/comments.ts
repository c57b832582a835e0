/** The habits of comments that make a reader read twice (CONTRIBUTING.md), as a rule of ESLint. */
import type { Rule } from 'eslint';

/** What is forbidden, and how to say it instead. */
const HABITS: readonly (readonly [habit: RegExp, remedy: string])[] = [
  [/\b(?:undefined|absent): /iu, 'say "undefined if …", "undefined while …" or "undefined for …"'],
  [
    /(?:\b(?:a|an|the|one|all|those|clusters|keys|objects) |, )of which (?:the|nothing|neither|everything|every)\b/iu,
    'say "whose …", or write a second sentence',
  ],
  [
    /\b(?:is|are) no (?:failure|problem|repair|proof|sign|reason|error|fault|difference|obstacle|object|part)\b/iu,
    'say "is not a …"',
  ],
  [/\b(?:is|are|was|were) told\b/iu, 'say "is notified", "learns" or "reads"'],
  [/\bthere is no such\b/iu, 'say "does not exist", or "is not served" for a kind'],
  [/\bnobody need\b/iu, 'say "is optional", or "need not"'],
  [/\bwhat ails\b/iu, 'say what is wrong'],
];

export const plainComments: Rule.RuleModule = {
  meta: { type: 'suggestion', schema: [], messages: { habit: 'A comment says "{{words}}": {{remedy}}.' } },
  create: (context) => ({
    Program: () => {
      for (const { value, loc } of context.sourceCode.getAllComments()) {
        const text = value.replace(/\s*\n\s*\*?\s*/gu, ' ');
        for (const [habit, remedy] of HABITS) {
          const words = habit.exec(text)?.[0];
          if (words !== undefined && loc) context.report({ loc, messageId: 'habit', data: { words, remedy } });
        }
      }
    },
  }),
};
