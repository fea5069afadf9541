//! Values of the application that tools and context providers may ask for, found by their type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// One value per type, shared by all runs of an agent.
#[derive(Default, Clone)]
pub struct Resources(HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>);

impl Resources {
    /// Adds a value, in place of an earlier one of the same type.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        self.0
            .insert(TypeId::of::<T>(), (type_name::<T>(), Arc::new(value)));
    }

    /// The value of a type, if the agent has one.
    #[must_use]
    pub fn find<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let (_, value) = self.0.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.values().map(|(name, _)| name))
            .finish()
    }
}
