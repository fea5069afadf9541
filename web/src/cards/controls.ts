/* What each kind of question gets to answer with. */
import type { Json } from '../lib/json';
import type { Question } from '../lib/questions';
import type { Given } from '../lib/view';

export interface Controls {
  question: Question;
  /** The time to answer is over; all that is left is to let go. */
  isOver: boolean;
  isDone: boolean;
  guarded: (act: () => void) => () => void;
  answer: (verdict: Given['verdict'], rest?: { payload?: Json; collect?: () => Json }) => void;
}
