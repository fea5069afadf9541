/* Ways to begin with the agents of the demo. */

const IDEAS: Record<string, readonly string[]> = {
  recipe: ['Create a carbonara recipe', 'Make it vegetarian', 'Improve the recipe'],
  plan: ['Plan a trip to Mars in five steps'],
  document: ['Write a story about a lighthouse'],
  report: ['Write a quarterly report'],
  agentic_chat: ['Hello!', 'Change the background', 'What is the weather like?'],
  backend_tool_rendering: ['What is the weather in San Francisco?', 'And in Tokyo?'],
  human_in_the_loop: ['Plan a picnic with me'],
  agentic_generative_ui: ['Plan a trip to Mars in five steps'],
  shared_state: ['Create a recipe'],
  predictive_state_updates: ['Write a story about a lighthouse'],
  approval: ['Delete the customer'],
  approvals: ['Send the invitations'],
  confirmation: ['Write about a walk along the river'],
  private_token: ['Connect my account'],
  verification: ['Verify my identity'],
  tool_based_generative_ui: ['Write me a haiku about the sea'],
};

export function suggestions(agent: string): readonly string[] {
  return Object.hasOwn(IDEAS, agent) ? (IDEAS[agent] ?? []) : [];
}
