//! What others derive from an engine: made once, kept with it, and of no type that the engine knows.

use std::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::profile::Arm;

type Id = (TypeId, u64, Arm);

/// Values by their type, a number and an arm. There are few: one for each wire and arm in use.
#[derive(Default)]
pub(super) struct Memo(Mutex<Vec<(Id, Arc<dyn Any + Send + Sync>)>>);

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memo")
    }
}

impl Memo {
    /// The value of a key. Of several threads that make it at once, the first one's is kept and given to all.
    pub(super) fn get_or_make<T: Any + Send + Sync>(&self, key: u64, arm: Arm, make: impl FnOnce() -> T) -> Arc<T> {
        let id = (TypeId::of::<T>(), key, arm);
        if let Some(known) = find_value(&self.lock_values(), id) {
            return known;
        }
        // Made without the lock, so that what makes it may ask for other values.
        let made = Arc::new(make());
        let mut values = self.lock_values();
        find_value(&values, id).unwrap_or_else(|| {
            values.push((id, made.clone()));
            made
        })
    }

    fn lock_values(&self) -> MutexGuard<'_, Vec<(Id, Arc<dyn Any + Send + Sync>)>> {
        // A push is all that happens under this lock: a poisoned one holds sound values.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find_value<T: Any + Send + Sync>(values: &[(Id, Arc<dyn Any + Send + Sync>)], id: Id) -> Option<Arc<T>> {
    values.iter().find(|(own, _)| *own == id).and_then(|(_, value)| value.clone().downcast().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_for_each_type_and_key() {
        let memo = Memo::default();
        let one = memo.get_or_make(1, Arm::Full, || 5_u8);
        assert!(Arc::ptr_eq(&one, &memo.get_or_make(1, Arm::Full, || 6_u8)));
        assert_eq!((*memo.get_or_make(2, Arm::Full, || 7_u8), *memo.get_or_make(1, Arm::Full, || 8_u16)), (7, 8));
        assert_eq!(*memo.get_or_make(1, Arm::Lean, || 6_u8), 6);
        let outer = memo.get_or_make(3, Arm::Full, || *memo.get_or_make(4, Arm::Full, || 9_u8) + 1);
        assert_eq!(*outer, 10, "what makes a value may ask for another");
    }
}
