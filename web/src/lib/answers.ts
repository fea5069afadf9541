/* Answers to the questions of a thread. A resume names every open question exactly once, so answers are
 * kept until there is one for each.
 *
 * A private value is never kept here: its form stays filled, and is read at the moment of sending. */
import type { ResumeEntry } from '@ag-ui/client';
import type { Json } from './json';
import type { Question } from './questions';
import type { Given } from './view';

export interface Answer {
  verdict: Given['verdict'];
  /** Absent for a cancelled question. */
  payload?: Json;
  /** Reads the payload when the answer is sent, and forgets it. */
  collect?: () => Json;
}

export class Answers {
  private readonly answers = new Map<string, Answer>();

  give(id: string, answer: Answer): void {
    this.answers.set(id, answer);
  }

  takeBack(id: string): void {
    this.answers.delete(id);
  }

  clear(): void {
    this.answers.clear();
  }

  given(): ReadonlyMap<string, Given> {
    return new Map([...this.answers].map(([id, { verdict }]) => [id, { verdict }]));
  }

  covers(questions: readonly Question[]): boolean {
    return questions.length > 0 && questions.every(({ id }) => this.answers.has(id));
  }

  /** The entries for a resume. Reading a private value empties its form. */
  take(questions: readonly Question[]): ResumeEntry[] {
    return questions.map(({ id }) => {
      const answer = this.answers.get(id);
      if (answer === undefined || answer.verdict === 'cancelled') return { interruptId: id, status: 'cancelled' };
      return { interruptId: id, status: 'resolved', payload: answer.collect === undefined ? answer.payload : answer.collect() };
    });
  }
}
